import { query } from '../support/postgres.ts';
import { type Call, saveOf, send } from './api.ts';
import { type OnPostgres, onPostgres } from './fleet.ts';
import type { Figures, Harness, Run } from './harness.ts';
import { createKey } from './target.ts';

/** The purposes of the connections whose backends are suspended. */
const purposes = {
  quick: ['server'],
  full: ['server', 'quotas', 'writer', 'health', 'reader', 'tasks'],
};
/** Longer than the statement deadline. After the deadline, the server opens a new connection. */
const frozenMs = 13_000;
const everyMs = 100;
const servedWithinMs = 3_000;
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
    const { served, unserved, message } = await onPostgres(1, { random, env, variants }, (given) =>
      freeze(given, purpose),
    );
    const sent = served + unserved;
    if (unserved / sent > mayFail)
      violations.add(`${purpose}: ${unserved} of ${sent} requests failed or took too long`);
    if (unserved > 0 && purpose === 'server' && message === '')
      violations.add(`${purpose}: /health reported no reason`);
    figures[purpose] = `${served} succeeded, ${unserved} failed${message && ` (${message})`}`;
  }
  return figures;
}

async function freeze({ fleet, url, name }: OnPostgres, purpose: string) {
  const [server = ''] = fleet.urls;
  const target = { url: server, key: await createKey(url, 'frozen') };
  const saved = await send(target, save('first'));
  const { id } = JSON.parse(saved?.text ?? '{}') as { id: string };
  const load = startRequests(target, id);
  await Bun.sleep(1_000);
  const pid = await backendOf(url, name, purpose);
  process.kill(pid, 'SIGSTOP');
  try {
    load.begin();
    await Bun.sleep(frozenMs);
    return await load.stop();
  } finally {
    process.kill(pid, 'SIGCONT');
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

/**
 * Sends requests at a fixed rate, regardless of earlier responses. Counts only requests that are
 * sent after `begin` is called.
 */
function startRequests(target: { url: string; key: string }, id: string) {
  const kinds: (() => Call)[] = [
    () => save('frozen'),
    () => ({ method: 'GET', path: `/v1/memories/${id}` }),
    () => ({ method: 'GET', path: '/v1/memories?userId=nobody' }),
    () => ({ method: 'GET', path: '/v1/memories/search?userId=nobody&query=frozen' }),
    () => ({ method: 'PATCH', path: `/v1/memories/${id}`, body: { content: 'thawed' } }),
    () => ({ method: 'GET', path: '/health' }),
  ];
  const counts = { served: 0, unserved: 0, message: '' };
  let isCounting = false;
  const asked: Promise<void>[] = [];

  async function ask(call: Call): Promise<void> {
    const isCounted = isCounting;
    const begun = performance.now();
    const reply = await send(target, call);
    const isServed =
      reply !== null && reply.status < 300 && performance.now() - begun < servedWithinMs;
    if (isCounted && isServed) counts.served += 1;
    if (isCounted && !isServed) counts.unserved += 1;
    if (call.path !== '/health' || reply === null) return;
    counts.message = (JSON.parse(reply.text) as { message?: string }).message ?? counts.message;
  }

  const timer = setInterval(() => {
    for (const kind of kinds) asked.push(ask(kind()));
  }, everyMs);
  return {
    begin() {
      isCounting = true;
    },
    async stop() {
      clearInterval(timer);
      await Promise.all(asked);
      return counts;
    },
  };
}
