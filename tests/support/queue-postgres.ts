import { query } from './postgres.ts';
import type { Hold } from './queue.ts';

/** Leases the task. The new change numbers make in-memory search indexes read the memory again. */
const hold = `WITH one AS (
    UPDATE users AS u SET last_change = u.last_change + 1 FROM memories AS m
    WHERE m.id = $1 AND u.project_id = m.project_id AND u.user_id = m.user_id
    RETURNING u.last_change),
  changed AS (
    UPDATE memories SET last_change = one.last_change FROM one WHERE id = $1)
  UPDATE tasks SET state = 'running', run_at = accepted_at, lease_token = lease_token + 1,
    lease_owner = 'a test', leased_until = 9000000000000000, chunks_complete = 0, chunks_total = 0,
    last_change = NULL
  WHERE memory_id = $1 RETURNING lease_token AS "leaseToken"`;

const fail = `UPDATE tasks SET state = 'failed', run_at = NULL, lease_owner = NULL,
    error_message = $1
  WHERE memory_id = $2 AND state = 'running' AND lease_token = $3::int8 RETURNING 1`;

export const leased: Hold = async (databaseUrl, memoryId) => {
  const [lease] = await query(databaseUrl, hold, [memoryId]);
  if (lease === undefined) throw new Error('the document has no task');
  const { leaseToken } = lease as { leaseToken: string };
  return async (errorMessage) =>
    (await query(databaseUrl, fail, [errorMessage, memoryId, leaseToken])).length > 0;
};
