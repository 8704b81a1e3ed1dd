import type { Static } from '@sinclair/typebox';
import type { Memory, SaveRequest, UpdateRequest } from '../../sdk/contract/memory.ts';
import { optionalTimeMs } from '../../sdk/contract/times.ts';
import type * as stored from '../storage/types/memories.ts';

/* Converts valid requests to what the storage stores. Times arrive as strings. */

export function newMemory(request: Static<typeof SaveRequest>, id: string): stored.NewMemory {
  const { userId, content, metadata, source = null, externalId = null } = request;
  return {
    id,
    userId,
    type: 'memory',
    content,
    metadata: metadata === undefined ? '{}' : JSON.stringify(metadata),
    source,
    externalId,
    occurredAt: optionalTimeMs(request.occurredAt),
    expiresAt: optionalTimeMs(request.expiresAt),
  };
}

/** Omitted fields are undefined, and null clears a time. */
export function changesOf(request: Static<typeof UpdateRequest>): stored.MemoryChanges {
  const { content, metadata, occurredAt, expiresAt } = request;
  return {
    ...(content !== undefined && { content }),
    ...(metadata !== undefined && { metadata: JSON.stringify(metadata) }),
    ...(occurredAt !== undefined && { occurredAt: optionalTimeMs(occurredAt) }),
    ...(expiresAt !== undefined && { expiresAt: optionalTimeMs(expiresAt) }),
  };
}

export function importedMemory(item: Memory): stored.StoredMemory {
  return {
    ...item,
    metadata: JSON.stringify(item.metadata),
    version: item.version ?? 1,
    occurredAt: optionalTimeMs(item.occurredAt),
    expiresAt: optionalTimeMs(item.expiresAt),
    createdAt: Date.parse(item.createdAt),
    updatedAt: Date.parse(item.updatedAt),
  };
}
