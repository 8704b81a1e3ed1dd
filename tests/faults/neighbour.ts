import { loadavg } from 'node:os';
import { openLoop, type Sample } from '../bench/kit/load.ts';
import { median, quantile } from '../bench/kit/numbers.ts';
import { requestBytes } from '../bench/kit/requests.ts';
import type { Random } from '../support/random.ts';
import { expectDrained, saveOf, send } from './api.ts';
import type { Figures, Harness, Run, Violations } from './harness.ts';
import { createKey, createTarget, type Target } from './target.ts';
import { toolCall } from './traffic/bodies.ts';
import { eventOf, fewMemories, fewUsers, heavyUser, kinds, words } from './traffic/kinds.ts';
import { type Order, startSender } from './traffic/sender.ts';

const phaseMs = { quick: 1_500, full: 20_000 };
const idleMs = { quick: 700, full: 5_000 };
/** The best round counts, because other load on the machine only adds latency. */
const rounds = 2;
/** As many requests per second as by default, but a project may send many of them at once. */
const rateLimit = '100000/1000';
/** The request rate of project B, just below the rate limit. */
const perSecond = 95;
const maxSlowdown = 5;
/**
 * The lowest limit for saves and lists. On two cores shared with another busy program, lists on an
 * idle service had a p99 of 4 to 11 ms, so smaller differences are scheduler noise.
 */
const floorMs = 12;
/** For searches and MCP calls, which both wait for a reader thread. */
const maxSearchMs = 100;
const maxMcpSlowdown = 3;
const idleWithinMs = { quick: 5_000, full: 60_000 };

/** Documents of the heavy user, each close to the body limit. */
const documents = { count: 4, characters: 4_000_000 };
/**
 * The interval between two requests of the same kind. The four kinds together make 125 requests per
 * second, because an MCP call counts twice.
 */
const everyMs = 40;
const idleSaveMs = 20;

export const neighbour: Harness = {
  id: 'P23',
  promise:
    'Expensive requests from one project, within its rate limit, do not delay the requests of ' +
    'another project beyond a fixed limit',
  proof:
    'project B has a user with 16 MB of text and sends one kind of request at a time: searches ' +
    'with many words or one long word, deletions of users with no or few memories, exports, ' +
    'batches, dense bodies, and MCP calls on large documents; project A saves, lists, searches ' +
    `and calls an MCP tool at a fixed rate; the p99 of A must not exceed ${maxSearchMs} ms for ` +
    `searches and MCP calls and, for saves and lists, ${floorMs} ms or ${maxSlowdown} times the ` +
    "idle p99, whichever is greater; during B's MCP calls, A's median must not exceed " +
    `${maxMcpSlowdown} times the idle median`,
  control: {
    without: 'separate threads for expensive requests; reading only parts of texts for MCP tools',
    variants: ['blocked-http-thread', 'whole-texts'],
    separate: true,
  },
  run,
};

/** Latencies in ms: p99, and the median of MCP calls. */
type Latencies = Record<(typeof names)[number], number>;
const names = ['save', 'list', 'search', 'mcp', 'mcpMedian'] as const;

function each(of: (name: (typeof names)[number]) => number): Latencies {
  return Object.fromEntries(names.map((name) => [name, of(name)])) as Latencies;
}

async function run({ seed, tier, variants, random, violations }: Run): Promise<Figures> {
  await using target = createTarget({ variants, env: { MEMORY_RATE_LIMIT: rateLimit } });
  using sender = startSender();
  await target.start();
  const key = await createKey(`sqlite:${target.path}`, 'neighbour');
  const documentId = await fillHeavyProject({ url: target.url, key }, random);
  await expectDrained(target, 60_000, violations);
  const idle: Latencies[] = [];
  const busy: Record<string, Busy> = {};
  for (const kind of Object.keys(kinds)) {
    await waitUntilIdle(target, idleWithinMs[tier]);
    idle.push(await measureP99(target, idleMs[tier], 'idle', violations));
    const order = { target: { url: target.url, key }, kind, seed, perSecond, documentId };
    busy[kind] = await measureBusy({ target, tier, violations, sender, kind, order });
    if (!target.running()) throw new Error(`the server exited during ${kind}`);
  }
  const typical = each((name) => median(idle.map((p99) => p99[name])));
  for (const [kind, { p99 }] of Object.entries(busy)) compare(kind, p99, typical, violations);
  const shown = Object.entries(busy).map(([kind, { p99, sent }]) => [kind, show(p99) + sent]);
  const load = loadavg()[0]?.toFixed(1) ?? '';
  return { loadAverage: load, idleP99Ms: show(typical), ...Object.fromEntries(shown) };
}

type Busy = { p99: Latencies; sent: string };

type Measuring = Pick<Run, 'tier' | 'violations'> & {
  target: Target;
  sender: ReturnType<typeof startSender>;
  kind: string;
  order: Order;
};

async function measureBusy(measuring: Measuring): Promise<Busy> {
  const { target, tier, violations, sender, kind, order } = measuring;
  let best = each(() => Number.POSITIVE_INFINITY);
  let sent = '';
  for (let round = 0; round < rounds; round += 1) {
    const { tally: counted } = await sender.send(order);
    const p99 = await measureP99(target, phaseMs[tier], kind, violations);
    sender.stop();
    const tally = Object.entries(await counted).map(([status, n]) => `${n} × ${status}`);
    const before = best;
    best = each((name) => Math.min(before[name], p99[name]));
    const idleAfterMs = await waitUntilIdle(target, idleWithinMs[tier]);
    sent = ` (responses: ${tally.join(', ') || 'none'}; idle after ${idleAfterMs} ms)`;
  }
  return { p99: best, sent };
}

async function measureP99(
  target: Target,
  ms: number,
  kind: string,
  violations: Violations,
): Promise<Latencies> {
  const samples = await measure(target, ms);
  for (const [name, all] of samples) {
    const failures = all.filter(({ status }) => status >= 300);
    const [first] = failures;
    if (first !== undefined)
      violations.add(`${kind}: ${failures.length} × ${name} ${first.status}`);
  }
  const of = (name: string, share: number) => {
    const latencies = samples.get(name)?.map(({ ms }) => ms) ?? [];
    return quantile(latencies, share);
  };
  return each((name) => (name === 'mcpMedian' ? of('mcp', 0.5) : of(name, 0.99)));
}

function compare(kind: string, busy: Latencies, idle: Latencies, violations: Violations): void {
  const limits: Latencies = {
    save: Math.max(floorMs, idle.save * maxSlowdown),
    list: Math.max(floorMs, idle.list * maxSlowdown),
    search: maxSearchMs,
    mcp: maxSearchMs,
    mcpMedian: kind.startsWith('mcp') ? idle.mcpMedian * maxMcpSlowdown : maxSearchMs,
  };
  for (const name of names) {
    const [ms, limitMs] = [busy[name], limits[name]];
    if (ms <= limitMs) continue;
    const what = name === 'mcpMedian' ? 'MCP median' : `${name} p99`;
    violations.add(`${kind}: ${what} ${ms.toFixed(1)} ms, limit ${limitMs.toFixed(1)} ms`);
  }
}

function show(latencies: Latencies): string {
  return names.map((name) => `${name} ${latencies[name].toFixed(1)}`).join(' ');
}

type Api = Pick<Target, 'url' | 'key'>;

/**
 * Adds one user with 16 MB of text, and many users with a few memories each. Returns the id of a
 * document of the first user.
 */
async function fillHeavyProject(api: Api, random: Random): Promise<string> {
  let documentId = '';
  for (let count = 0; count < documents.count; count += 1) {
    const text = words(random, documents.characters / 6).slice(0, documents.characters);
    const body = { userId: heavyUser, data: { text } };
    documentId = JSON.parse(await ingest(api, '/v1/ingest/document', body)).memoryId;
  }
  const few = Array.from({ length: fewUsers * fewMemories }, (_, index) =>
    eventOf(`few-${index % fewUsers}`, words(random, 20)),
  );
  for (let begin = 0; begin < few.length; begin += 1_000) {
    await ingest(api, '/v1/ingest/batch', { items: few.slice(begin, begin + 1_000) });
  }
  return documentId;
}

async function ingest(api: Api, path: string, body: object): Promise<string> {
  const reply = await send(api, { method: 'POST', path, body });
  if (reply?.status !== 202) throw new Error(`${path}: ${reply?.status} ${reply?.text}`);
  return reply.text;
}

/** Measures saves, lists, searches and MCP calls in project A, for a user with one memory. */
async function measure(target: Target, during: number): Promise<Map<string, Sample[]>> {
  const { url, key } = target;
  await send(target, { ...saveOf('one', 'dark mode'), idempotencyKey: 'one' });
  const headers = ['Accept: application/json, text/event-stream'];
  const body = toolCall('list_memories', {});
  const requests = Object.entries({
    save: requestBytes('POST', '/v1/memories', { body: saveOf('a', 'A').body, key }),
    list: requestBytes('GET', '/v1/memories?userId=one&limit=1', { key }),
    search: requestBytes('GET', '/v1/memories/search?userId=one&query=dark+mode', { key }),
    mcp: requestBytes('POST', '/mcp/users/one', { body, headers, key }),
  });
  const kindOf = (number: number) => requests[number % requests.length] ?? ['', new Uint8Array()];
  const perSecond = (requests.length * 1_000) / everyMs;
  const next = (number: number) => kindOf(number)[1];
  const samples = await openLoop({ url, perSecond, during, mayFail: true, next });
  return Map.groupBy(samples, ({ number }) => kindOf(number)[0]);
}

/**
 * Waits until four consecutive saves are fast, because the server may still be working on
 * canceled requests. Returns the elapsed time in ms.
 */
async function waitUntilIdle(target: Target, withinMs: number): Promise<number> {
  const begun = performance.now();
  for (let quick = 0; quick < 4 && performance.now() - begun < withinMs; ) {
    const sentAt = performance.now();
    await send(target, saveOf('q', 'q'));
    quick = performance.now() - sentAt < idleSaveMs ? quick + 1 : 0;
  }
  return Math.round(performance.now() - begun);
}
