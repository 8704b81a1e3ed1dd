import type { Lease } from '../../server/storage/task-storage.ts';

/** Returns the lease of a task, without the task's other fields. */
export function leaseOf({ projectId, userId, memoryId, kind, leaseToken }: Lease): Lease {
  return { projectId, userId, memoryId, kind, leaseToken };
}
