import { ingest, newUser, whenComplete } from './http.ts';
import { rowsOf } from './rows.ts';
import type { TestServer } from './server.ts';

const externalId = 'leased';

/**
 * Ingests a document, waits until it is processed, and then leases its task again, so that the
 * document stays `processing`. Leasing the task earlier would race with the worker. On SQLite, a
 * restarted server reclaims the task.
 */
export async function leaseRecord(server: TestServer) {
  const userId = newUser();
  const record = { userId, externalId, data: { text: 'leased text' } };
  const { memoryId } = await ingest(server, '/v1/ingest/document', record);
  await whenComplete(server, memoryId);
  return { memoryId, userId, externalId, fail: await holdTask(server, memoryId) };
}

/** The lease never expires, so that the server's worker cannot claim the task. */
const lease = `UPDATE tasks SET state = 'running', run_at = accepted_at,
    lease_token = lease_token + 1, lease_owner = 'a test', leased_until = 9000000000000000,
    chunks_complete = 0, chunks_total = 0, last_change = NULL
  WHERE memory_id = $1 RETURNING 1`;

/** The new change numbers make in-memory search indexes read the memory again. */
const changes = [
  `UPDATE memories SET last_change = (SELECT users.last_change + 1 FROM users
     WHERE users.project_id = memories.project_id AND users.user_id = memories.user_id)
   WHERE id = $1`,
  `UPDATE users SET last_change = last_change + 1
   WHERE (project_id, user_id) = (SELECT project_id, user_id FROM memories WHERE id = $1)`,
];

const fail = `UPDATE tasks SET state = 'failed', run_at = NULL, lease_owner = NULL,
    error_message = $1
  WHERE memory_id = $2 AND state = 'running' AND lease_owner = 'a test' RETURNING 1`;

/**
 * Leases the task of a complete memory, which is then `processing`. Returns a function that fails
 * the task, and that returns false if the lease is no longer held.
 */
export async function holdTask({ databaseUrl }: TestServer, memoryId: string) {
  const leased = await rowsOf(databaseUrl, lease, [memoryId]);
  if (leased.length === 0) throw new Error('the memory has no task');
  for (const change of changes) await rowsOf(databaseUrl, change, [memoryId]);
  return async (message: string) =>
    (await rowsOf(databaseUrl, fail, [message, memoryId])).length > 0;
}
