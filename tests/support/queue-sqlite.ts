import { Database } from 'bun:sqlite';
import { sqlitePath } from '../../server/storage/open.ts';
import type { Hold } from './queue.ts';

/** The lease never expires, so the server's worker cannot claim the task. */
const leasedUntil = Number.MAX_SAFE_INTEGER;

export const leased: Hold = async (databaseUrl, memoryId) => {
  const lease = inDatabase(databaseUrl, (db) => hold(db, memoryId));
  return async (errorMessage) => inDatabase(databaseUrl, (db) => fail(db, lease, errorMessage));
};

type Lease = { memoryId: string; leaseToken: number };

function inDatabase<T>(databaseUrl: string, work: (db: Database) => T): T {
  const path = sqlitePath(databaseUrl);
  const db = new Database(path, { create: false, readwrite: true, strict: true });
  try {
    db.run('PRAGMA busy_timeout = 5000');
    return db.transaction(work).immediate(db);
  } finally {
    db.close(true);
  }
}

/** Leases the task. The new change numbers make in-memory search indexes read the memory again. */
function hold(db: Database, memoryId: string): Lease {
  db.prepare(
    `UPDATE users SET last_change = last_change + 1
     WHERE (project_id, user_id) = (SELECT project_id, user_id FROM memories WHERE id = ?)`,
  ).run(memoryId);
  db.prepare(
    `UPDATE memories SET last_change = (SELECT last_change FROM users
       WHERE users.project_id = memories.project_id AND users.user_id = memories.user_id)
     WHERE id = ?`,
  ).run(memoryId);
  const lease = db
    .prepare<Lease, [number, string]>(
      `UPDATE tasks SET state = 'running', run_at = accepted_at, lease_token = lease_token + 1,
         lease_owner = 'a test', leased_until = ?, chunks_complete = 0, chunks_total = 0,
         last_change = NULL
       WHERE memory_id = ? RETURNING memory_id AS memoryId, lease_token AS leaseToken`,
    )
    .get(leasedUntil, memoryId);
  if (lease === null) throw new Error('the document has no task');
  return lease;
}

function fail(db: Database, { memoryId, leaseToken }: Lease, errorMessage: string): boolean {
  const { changes } = db
    .prepare(
      `UPDATE tasks SET state = 'failed', run_at = NULL, lease_owner = NULL, error_message = ?
       WHERE memory_id = ? AND state = 'running' AND lease_token = ?`,
    )
    .run(errorMessage, memoryId, leaseToken);
  return changes > 0;
}
