import { openAdmin } from '../../server/admin.ts';
import { createRandom, type Random } from '../support/random.ts';
import { type Call, drained, send } from './api.ts';
import {
  createViolations,
  type Finding,
  type Harness,
  type RunOptions,
  type Violations,
} from './harness.ts';
import { createTarget, type Target } from './target.ts';
import { batch, eventOf, fewMemories, fewUsers, heavyUser, kinds, words } from './traffic/kinds.ts';
import { type Probe, percentile, probe } from './traffic/probe.ts';
import { type Sender, startSender } from './traffic/sender.ts';

const phaseMs = { quick: 2_400, full: 20_000 };
/** Each of the three requests is sent this often. */
const everyMs = 20;
/** Below the rate limit of 6,000 a minute. */
const perSecond = 95;
const slowdown = 5;
/** Two time slices of the scheduler: with two cores and a busy third thread, a request waits for one
 * of them on either side of the connection, whoever keeps the core busy. */
const floorMs = 10;
const searchWithinMs = 100;
/** Texts of the heavy user, each near the limit on a body. */
const documents = { count: 4, characters: 4_000_000 };
const quietWithinMs = { quick: 6_000, full: 60_000 };

export const neighbour: Harness = {
  id: 'P23',
  promise: 'One project cannot make another wait',
  proof:
    `one project sends, within its rate limit, ${Object.keys(kinds).join(', ')}, one kind after ` +
    'the other, with 16 MB of text in one user; another saves, lists and searches a user with ' +
    `one memory ${1_000 / everyMs} times a second; p99 of each kind, idle first`,
  control: { without: 'threads for work that costs', variants: ['held-http-thread'] },
  run,
};

type P99 = { save: number; list: number; search: number };

async function run({ seed, tier, variants }: RunOptions): Promise<Finding> {
  const random = createRandom(seed);
  const violations = createViolations();
  const target = createTarget({ variants, env: { MEMORY_RATE_LIMIT: '6000/60' } });
  try {
    await target.start();
    const key = await createProject(target, 'neighbour');
    await fill({ url: target.url, key }, random);
    if (!(await drained(target, 60_000))) violations.add('the texts are not indexed in a minute');
    await becomeQuiet(target, quietWithinMs[tier]);
    const idle = p99Of(await measure(target, phaseMs[tier]), 'idle', violations);
    const figures: Finding['figures'] = { idleP99Ms: show(idle) };
    for (const kind of Object.keys(kinds)) {
      const order = { url: target.url, key, kind, seed, perSecond };
      const sender = startSender(order);
      const p99 = p99Of(await measure(target, phaseMs[tier]), kind, violations);
      figures[kind] = await conclude(sender, show(p99));
      compare(kind, p99, idle, violations);
      if (!target.running()) throw new Error(`the server ended under ${kind}`);
      const quietMs = await becomeQuiet(target, quietWithinMs[tier]);
      if (quietMs > 1_000) figures[kind] += `, quiet again after ${(quietMs / 1_000).toFixed(1)} s`;
    }
    return { figures, violations: violations.list() };
  } finally {
    await target.remove();
  }
}

async function createProject(target: Target, project: string): Promise<string> {
  const admin = await openAdmin(`sqlite:${target.path}`);
  const { key } = await admin.createKey({ name: project, project });
  await admin.close();
  return key;
}

async function fill(at: Pick<Target, 'url' | 'key'>, random: Random): Promise<void> {
  for (let count = 0; count < documents.count; count += 1) {
    const text = words(random, documents.characters / 6).slice(0, documents.characters);
    const body = { userId: heavyUser, data: { text } };
    await stored(at, { method: 'POST', path: '/v1/ingest/document', body });
  }
  const few = Array.from({ length: fewUsers * fewMemories }, (_, index) =>
    eventOf(`few-${index % fewUsers}`, words(random, 20)),
  );
  for (let begin = 0; begin < few.length; begin += 1_000) {
    const { method, path } = batch([]);
    const body = { items: few.slice(begin, begin + 1_000) };
    await stored(at, { method: method as 'POST', path, body });
  }
}

async function stored(at: Pick<Target, 'url' | 'key'>, call: Call): Promise<void> {
  const reply = await send(at, call);
  if (reply?.status !== 202) throw new Error(`${call.path}: ${reply?.status} ${reply?.text}`);
}

function measure(target: Target, during: number): Promise<Record<string, Probe>> {
  const save: Call = { method: 'POST', path: '/v1/memories', body: { userId: 'a', content: 'A' } };
  const one = { ...save, body: { userId: 'one', content: 'prefers dark mode' } };
  const list: Call = { method: 'GET', path: '/v1/memories?userId=one&limit=1' };
  const search: Call = { method: 'GET', path: '/v1/memories/search?userId=one&query=dark+mode' };
  let saved = false;
  const saveFirst = () => {
    const call = saved ? save : one;
    saved = true;
    return call;
  };
  const calls = { save: saveFirst, list: () => list, search: () => search };
  return probe(target, calls, { everyMs, during });
}

function p99Of(probes: Record<string, Probe>, kind: string, violations: Violations): P99 {
  for (const { failures } of Object.values(probes)) {
    const [first] = failures;
    if (first !== undefined) violations.add(`${kind}: ${failures.length} times ${first}`);
  }
  const of = (name: string) => percentile(probes[name]?.latenciesMs ?? [], 0.99);
  return { save: of('save'), list: of('list'), search: of('search') };
}

function compare(kind: string, p99: P99, idle: P99, violations: Violations): void {
  for (const name of ['save', 'list'] as const) {
    const limitMs = Math.max(floorMs, idle[name] * slowdown);
    if (p99[name] > limitMs) violations.add(`${kind}: ${over(name, p99[name], limitMs)}`);
  }
  if (p99.search > searchWithinMs) {
    violations.add(`${kind}: ${over('search', p99.search, searchWithinMs)}`);
  }
}

function over(name: string, ms: number, limitMs: number): string {
  return `${name} p99 ${ms.toFixed(1)} ms, over ${limitMs.toFixed(1)} ms`;
}

async function conclude(sender: Sender, shown: string): Promise<string> {
  const tally = Object.entries(await sender.stop()).map(([status, n]) => `${n} × ${status}`);
  return `${shown} (sent: ${tally.join(', ') || 'none answered'})`;
}

function show({ save, list, search }: P99): string {
  return `save ${save.toFixed(1)} list ${list.toFixed(1)} search ${search.toFixed(1)}`;
}

/** Waits until what was cut off is done with; returns how long that took. */
async function becomeQuiet(target: Target, withinMs: number): Promise<number> {
  const begun = performance.now();
  for (let quick = 0; quick < 5 && performance.now() - begun < withinMs; ) {
    const asked = performance.now();
    await send(target, {
      method: 'POST',
      path: '/v1/memories',
      body: { userId: 'q', content: 'q' },
    });
    quick = performance.now() - asked < 20 ? quick + 1 : 0;
  }
  return performance.now() - begun;
}
