import type { MemoryChanges, NewMemory, StoredMemory } from '../storage/storage.ts';

/** The new values of a memory's fields. Undefined fields stay unchanged. */
type Changes = MemoryChanges & { type?: NewMemory['type'] };

const comparedAsIs = ['type', 'content', 'occurredAt', 'expiresAt'] as const;

/**
 * Whether the changes leave the memory as it is. On a memory that is processing or failed, every
 * write counts as a change, because a write is how a failed record is retried.
 */
export function changesNothing(memory: StoredMemory, changes: Changes): boolean {
  if (memory.status !== 'complete') return false;
  const { metadata } = changes;
  return (
    comparedAsIs.every((name) => changes[name] === undefined || changes[name] === memory[name]) &&
    (metadata === undefined || isSameJson(metadata, memory.metadata))
  );
}

/** Returns the memory with the changes. `updatedAt` never decreases, even if the clock does. */
export function changedMemory<Stored extends StoredMemory>(
  memory: Stored,
  changes: Changes,
  at: number,
): Stored {
  const { type, content, metadata, occurredAt, expiresAt } = { ...memory, ...changes };
  const fields = { type, content, metadata, occurredAt, expiresAt };
  const version = memory.version + 1;
  const updatedAt = Math.max(memory.updatedAt, at);
  return { ...memory, ...fields, status: 'complete', version, updatedAt };
}

/** Compares JSON texts regardless of spaces and the order of keys. */
function isSameJson(one: string, other: string): boolean {
  return one === other || Bun.deepEquals(JSON.parse(one), JSON.parse(other), true);
}
