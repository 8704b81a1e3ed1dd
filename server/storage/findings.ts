import type { Finding } from './admin-storage.ts';
import type { Contradictions } from './operations/consistency.ts';

/* The checks of `memory doctor` that do not depend on the backend. */

export function ok(name: string, found: string): Finding {
  return { name, level: 'ok', found };
}

/** `count` is the number of API keys that are neither revoked nor expired. */
export function aboutKeys(count: number): Finding {
  if (count > 0) return ok('keys', `${count} in use`);
  const advice = 'create a key with "memory keys create", or set MEMORY_API_KEY for the server';
  return { name: 'keys', level: 'warning', found: 'none', advice };
}

/**
 * The numbers of pending and failed tasks, and the time when the oldest pending task was accepted.
 */
export type QueueCounts = { pending: number; oldest: number | null; failed: number };

const stuckMs = 5 * 60_000;

/** `more` is appended to the text of the first finding. */
export function aboutWork(
  { pending, oldest, failed }: QueueCounts,
  now: number,
  more = '',
): Finding[] {
  // mutate-ignore constant: the age is rounded to seconds
  const waitsMs = oldest === null ? 0 : Math.max(0, now - oldest);
  const age = pending > 0 ? `, the oldest for ${Math.round(waitsMs / 1_000)} s` : '';
  const queue = ok('queue', `${pending} pending${age}${more}`);
  if (waitsMs > stuckMs) {
    queue.level = 'warning';
    queue.advice = 'check that a server is running, then check its log and GET /health';
  }
  if (failed === 0) return [queue];
  const advice = '"memory status <id>" shows the reason; to retry, ingest the record again';
  return [queue, { name: 'failed records', level: 'warning', found: String(failed), advice }];
}

export function aboutConsistency(found: Contradictions): Finding {
  const name = 'consistency';
  const wrong = Object.entries(found).filter(([, rows]) => rows > 0);
  if (wrong.length === 0) return ok(name, 'counts and references are right');
  const rows = wrong.map(([table, count]) => `${count} ${table}`).join(', ');
  const advice = 'this is a defect of the service: report it with this output and the server log';
  return { name, level: 'failure', found: `contradictory rows: ${rows}`, advice };
}
