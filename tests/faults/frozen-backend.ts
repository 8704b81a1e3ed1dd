import { query } from '../support/postgres.ts';
import { type Call, saveOf, send } from './api.ts';
import { type OnPostgres, onPostgres } from './fleet.ts';
import type { Figures, Harness, Run } from './harness.ts';
import { watchHealth } from './health-watch.ts';
import { createKey } from './target.ts';
import { probe } from './traffic/probe.ts';

/** The purposes of the connections whose backends are suspended. */
const purposes = {
  quick: ['server'],
  full: ['server', 'quotas', 'writer', 'health', 'reader', 'tasks'],
};
/** Longer than the statement deadline. After the deadline, the server opens a new connection. */
const frozenMs = 13_000;
const everyMs = 100;
const withinMs = 3_000;
/**
 * The permitted share of failed requests. A request may fail if it uses the suspended connection or
 * is sent before the server detects the fault.
 */
const mayFail = 0.05;

export const frozenBackend: Harness = {
  id: 'P32',
  promise: 'When one PostgreSQL backend process hangs, at least 95 % of requests still succeed',
  proof:
    'SIGSTOP suspends the backend of one connection for longer than the statement deadline, once ' +
    `for each kind of connection; meanwhile ${1_000 / everyMs} requests of each kind are sent ` +
    'per second; at most 5 % may fail or take longer than three seconds; if requests fail while ' +
    'the connection for short reads is suspended, /health must report a reason',
  control: { without: 'the second connection for short reads', variants: ['one-connection'] },
  run,
};

/** With this limit and load, the server reserves quota from the database about once per second. */
const env = { MEMORY_RATE_LIMIT: '8000/60' };

async function run({ tier, variants, random, violations }: Run): Promise<Figures> {
  const figures: Figures = { suspendedMs: frozenMs };
  for (const purpose of purposes[tier]) {
    const { sent, failed, message } = await onPostgres(1, { random, env, variants }, (given) =>
      freeze(given, purpose),
    );
    if (failed / sent > mayFail)
      violations.add(`${purpose}: ${failed} of ${sent} requests failed or took too long`);
    if (failed > 0 && purpose === 'server' && message === '')
      violations.add(`${purpose}: /health reported no reason`);
    figures[purpose] = `${sent - failed} succeeded, ${failed} failed${message && ` (${message})`}`;
  }
  return figures;
}

async function freeze({ fleet, url, name }: OnPostgres, purpose: string) {
  const [server = ''] = fleet.urls;
  const target = { url: server, key: await createKey(url, 'frozen') };
  const saved = await send(target, save('first'));
  const { id } = JSON.parse(saved?.text ?? '{}') as { id: string };
  const calls = callsOn(id);
  await probe(target, calls, { everyMs, during: 1_000 });
  const pid = await backendOf(url, name, purpose);
  const health = watchHealth(target);
  process.kill(pid, 'SIGSTOP');
  try {
    const probes = Object.values(
      await probe(target, calls, { everyMs, during: frozenMs, withinMs }),
    );
    const sent = probes.reduce((sum, { latenciesMs }) => sum + latenciesMs.length, 0);
    const failed = probes.reduce((sum, { failures }) => sum + failures.length, 0);
    const message = [...health.messages, health.warning].find((text) => text !== '') ?? '';
    return { sent, failed, message };
  } finally {
    process.kill(pid, 'SIGCONT');
    await health.stop();
  }
}

/** Returns the process id of the most recently used backend, which the server uses next. */
async function backendOf(url: string, name: string, purpose: string): Promise<number> {
  const [row] = await query(
    url,
    `SELECT pid FROM pg_stat_activity WHERE datname = $1 AND application_name = $2
     ORDER BY state_change DESC LIMIT 1`,
    [name, `memory ${purpose}`],
  );
  if (row === undefined) throw new Error(`the server has no connection for ${purpose}`);
  return Number(row.pid);
}

function save(content: string): Call {
  return saveOf(`user ${crypto.randomUUID()}`, content);
}

/** One call of each kind, for a memory that exists. */
function callsOn(id: string): Record<string, () => Call> {
  return {
    save: () => save('frozen'),
    get: () => ({ method: 'GET', path: `/v1/memories/${id}` }),
    list: () => ({ method: 'GET', path: '/v1/memories?userId=nobody' }),
    search: () => ({ method: 'GET', path: '/v1/memories/search?userId=nobody&query=frozen' }),
    update: () => ({ method: 'PATCH', path: `/v1/memories/${id}`, body: { content: 'thawed' } }),
    health: () => ({ method: 'GET', path: '/health' }),
  };
}
