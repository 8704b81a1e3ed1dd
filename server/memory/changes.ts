import type { MemoryChanges, NewMemory, StoredMemory } from '../storage/types/memories.ts';

/** The new values of a memory's fields. Missing fields stay unchanged. */
type Changes = MemoryChanges & { type?: NewMemory['type'] };

/**
 * Whether the changes leave the memory as it is. On a memory that is processing or failed, every
 * write counts as a change, because a write is how a failed record is retried.
 */
export function changesNothing(memory: StoredMemory, changes: Changes): boolean {
  if (memory.status !== 'complete') return false;
  const { metadata, ...others } = fieldsAfter(memory, changes);
  return Bun.deepEquals({ ...memory, ...others }, memory) && isSameJson(metadata, memory.metadata);
}

/** Returns the memory with the changes. `updatedAt` never decreases, even if the clock does. */
export function changedMemory<Stored extends StoredMemory>(
  memory: Stored,
  changes: Changes,
  at: number,
): Stored {
  const version = memory.version + 1;
  const updatedAt = Math.max(memory.updatedAt, at);
  return { ...memory, ...fieldsAfter(memory, changes), status: 'complete', version, updatedAt };
}

/** Returns all fields that a write can change: a save also passes others, such as its new id. */
function fieldsAfter(memory: StoredMemory, changes: Changes): Required<Changes> {
  const { type, content, metadata, occurredAt, expiresAt } = { ...memory, ...changes };
  return { type, content, metadata, occurredAt, expiresAt };
}

/** Compares JSON texts regardless of spaces and the order of keys. */
function isSameJson(one: string, other: string): boolean {
  return one === other || Bun.deepEquals(JSON.parse(one), JSON.parse(other), true);
}
