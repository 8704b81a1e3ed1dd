import type { MeasuredMemory, Measurement } from '../storage/types/project.ts';

/**
 * Adds memories to a sum. They are in the order of their users, and follow those in the sum:
 * `before` is the user of the last of these, or null if there is none.
 */
export function addMemories(
  { ...sum }: Measurement,
  memories: Iterable<MeasuredMemory>,
  before: string | null,
): Measurement {
  const byType = { ...sum.byType };
  const byStatus = { ...sum.byStatus };
  let last = before;
  for (const { userId, type, status, bytes, embedded, createdAt } of memories) {
    if (userId !== last) sum.users += 1;
    last = userId;
    sum.memories += 1;
    sum.bytes += bytes;
    byType[type] += 1;
    byStatus[status] += 1;
    sum.embedded += embedded;
    sum.oldestAt = Math.min(sum.oldestAt ?? createdAt, createdAt);
    sum.newestAt = Math.max(sum.newestAt ?? createdAt, createdAt);
  }
  return { ...sum, byType, byStatus };
}

export function nothing(): Measurement {
  return {
    users: 0,
    memories: 0,
    bytes: 0,
    byType: { memory: 0, ticket: 0, document: 0, conversation: 0, event: 0, profile: 0 },
    byStatus: { processing: 0, complete: 0, failed: 0 },
    embedded: 0,
    oldestAt: null,
    newestAt: null,
  };
}
