import type { Memory } from '../../sdk/contract/memory.ts';
import type { StoredMemory, StoredStatus } from '../storage/storage.ts';
import type { FoundMemory } from './find.ts';

/* Stored values as the JSON of the contract. */

export function memoryJson(memory: StoredMemory): string {
  return JSON.stringify(shown(memory));
}

/** The answer to a save: also with the id under the name that every write uses. */
export function savedMemoryJson(memory: StoredMemory): string {
  return JSON.stringify({ ...shown(memory), memoryId: memory.id });
}

/** Written in one go: many small texts joined take several times as long. */
export function pageJson(items: StoredMemory[], nextCursor: string | null): string {
  return JSON.stringify({ items: items.map(shown), nextCursor });
}

export function foundJson(found: FoundMemory[]): string {
  const items = found.map(({ memory, score, snippet }) => {
    return { ...shown(memory), score: Number(score.toPrecision(6)), snippet };
  });
  return JSON.stringify({ items });
}

export function statusJson({ createdAt, updatedAt, ...status }: StoredStatus): string {
  return JSON.stringify({ ...status, createdAt: time(createdAt), updatedAt: time(updatedAt) });
}

function shown(memory: StoredMemory): Memory {
  const { id, userId, content, metadata, type, source, externalId, status } = memory;
  const createdAt = time(memory.createdAt);
  // Most were never changed, and writing a time is dear.
  const isUnchanged = memory.updatedAt === memory.createdAt;
  return {
    id,
    userId,
    content,
    metadata: metadata === '{}' ? {} : JSON.parse(metadata),
    type,
    source,
    externalId,
    status,
    createdAt,
    updatedAt: isUnchanged ? createdAt : time(memory.updatedAt),
  };
}

function time(at: number): string {
  return new Date(at).toISOString();
}
