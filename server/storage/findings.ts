import type { Tx } from './engine.ts';
import { type Contradictions, findContradictions } from './operations/consistency.ts';
import { listKeys } from './operations/keys.ts';
import { taskQueueState } from './operations/reads.ts';
import type { Finding } from './types/admin.ts';
import type { StoredKey } from './types/keys.ts';
import type { QueueState } from './types/tasks.ts';

/* The checks of `memory doctor` that do not depend on the backend. */

export function ok(name: string, found: string): Finding {
  return { name, level: 'ok', found };
}

/** Of an unfinished copy, nothing else is checked: rows that refer to each other may be missing. */
export const unfinishedCopyFound: Finding = {
  name: 'copy',
  level: 'failure',
  found: 'the database is an unfinished copy of another database, so no server opens it',
  advice: 'run the same "memory migrate" command again to continue the copy',
};

/** What the rows of the database show. `more` is appended to what is found about the queue. */
export async function aboutRows(tx: Tx, now: number, more = ''): Promise<Finding[]> {
  return [
    aboutConsistency(await findContradictions(tx)),
    aboutKeys(await listKeys.run(tx, undefined), now),
    ...aboutWork(await taskQueueState.run(tx, undefined), now, more),
  ];
}

function aboutKeys(keys: readonly StoredKey[], now: number): Finding {
  const isUsable = ({ revokedAt, expiresAt }: StoredKey) =>
    revokedAt === null && (expiresAt === null || expiresAt > now);
  const count = keys.filter(isUsable).length;
  if (count > 0) return ok('keys', `${count} in use`);
  const advice = 'create a key with "memory keys create", or set MEMORY_API_KEY for the server';
  return { name: 'keys', level: 'warning', found: 'none', advice };
}

const stuckMs = 5 * 60_000;

function aboutWork(
  { pending, oldestAcceptedAt, failed }: QueueState,
  now: number,
  more: string,
): Finding[] {
  // mutate-ignore constant: the age is rounded to seconds
  const waitsMs = oldestAcceptedAt === null ? 0 : Math.max(0, now - oldestAcceptedAt);
  const age = pending > 0 ? `, the oldest for ${Math.round(waitsMs / 1_000)} s` : '';
  const queue = ok('queue', `${pending} pending${age}${more}`);
  if (waitsMs > stuckMs) {
    queue.level = 'warning';
    queue.advice = 'check that a server is running, then check its log and GET /health';
  }
  if (failed === 0) return [queue];
  const advice = '"memory tasks --status failed" shows why; to retry, ingest the records again';
  return [queue, { name: 'failed records', level: 'warning', found: String(failed), advice }];
}

function aboutConsistency(found: Contradictions): Finding {
  const name = 'consistency';
  const wrong = Object.entries(found).filter(([, rows]) => rows > 0);
  if (wrong.length === 0) return ok(name, 'counts and references are right');
  const rows = wrong.map(([table, count]) => `${count} ${table}`).join(', ');
  const advice = 'this is a defect of the service: report it with this output and the server log';
  return { name, level: 'failure', found: `contradictory rows: ${rows}`, advice };
}
