import type { StoredResponse, Write } from '../../storage.ts';
import { type InsertedMemory, memoryInserts } from '../row.ts';
import type { Work } from '../transaction.ts';
import { keyInserts } from './idempotency.ts';
import { indexedOf, queueNew } from './task-rows.ts';
import { changeNumbers, countChanges } from './users.ts';

/** New memories, with tasks if `areQueued` is set, and the response to the write. */
export type Insert = {
  write: Write;
  response: StoredResponse;
  /** The bucket of the memory whose data is in the response, or null. */
  bucket: number | null;
  rows: InsertedMemory[];
  areQueued: boolean;
};

/**
 * Inserts a group's rows in one round trip, in the lock order that all transactions use. Citus
 * needs two round trips, because it cannot join memories and users of several buckets in one
 * statement.
 */
export function insertGroup(
  inserts: readonly Insert[],
  { uptime, isDistributed }: { uptime: number; isDistributed: boolean },
): Work<null> {
  const rows = inserts.flatMap((insert) => insert.rows);
  const queued = inserts.flatMap(({ areQueued, rows: own }) => (areQueued ? own : []));
  const keys = keyInserts(inserts, uptime);
  const counts = countChanges(
    rows.map(({ projectId, memory: { userId } }) => ({ projectId, userId, added: 1 })),
  );
  const tasks = queueNew(queued.map(indexedOf));
  return async (run) => {
    if (!isDistributed) {
      const inserts = memoryInserts(rows, null);
      return { last: [...keys, ...counts, ...inserts, ...tasks], result: null };
    }
    const answers = await run([...keys, ...counts]);
    const counted = answers.slice(keys.length).flat();
    return { last: [...memoryInserts(rows, changeNumbers(counted)), ...tasks], result: null };
  };
}
