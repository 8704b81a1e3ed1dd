import type { Memory } from '../../sdk/contract/memory.ts';
import type { StoredMemory, StoredStatus } from '../storage/storage.ts';

export type FoundMemory = { memory: StoredMemory; score: number; snippet: string };

export function memoryJson(memory: StoredMemory): string {
  return JSON.stringify(shownMemory(memory));
}

/** Formats the response to a save. As in every write, the id is repeated as `memoryId`. */
export function savedMemoryJson(memory: StoredMemory): string {
  return JSON.stringify({ ...shownMemory(memory), memoryId: memory.id });
}

/** One call to JSON.stringify is several times as fast as joining many small strings. */
export function memoriesJson(items: readonly StoredMemory[]): string {
  return JSON.stringify(items.map(shownMemory));
}

export function foundJson(found: readonly FoundMemory[]): string {
  const items = found.map(({ memory, score, snippet }) => {
    return { ...shownMemory(memory), score: Number(score.toPrecision(6)), snippet };
  });
  return JSON.stringify(items);
}

export function shownStatus({ createdAt, updatedAt, ...status }: StoredStatus) {
  return { ...status, createdAt: time(createdAt), updatedAt: time(updatedAt) };
}

function shownMemory(memory: StoredMemory): Memory {
  const { id, userId, content, metadata, type, source, externalId, status, version } = memory;
  const createdAt = time(memory.createdAt);
  // Formatting a time is slow, and most memories have never been changed.
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
    version,
    occurredAt: timeOrNull(memory.occurredAt),
    expiresAt: timeOrNull(memory.expiresAt),
    createdAt,
    updatedAt: isUnchanged ? createdAt : time(memory.updatedAt),
  };
}

function timeOrNull(at: number | null): string | null {
  return at === null ? null : time(at);
}

function time(at: number): string {
  return new Date(at).toISOString();
}
