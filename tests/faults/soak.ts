import { statSync } from 'node:fs';
import { growthOf, median } from '../bench/kit/numbers.ts';
import { memoryBytes } from '../support/process.ts';
import { createRandom, type Random } from '../support/random.ts';
import { importable } from '../support/writes.ts';
import { type Call, send } from './api.ts';
import { createViolations } from './harness.ts';
import { startLoad } from './load.ts';
import { createTarget, type Target } from './target.ts';
import { toolCall } from './traffic/bodies.ts';
import { startLoops } from './traffic/loops.ts';

/*
 *   bun tests/faults/soak.ts [minutes]
 *
 * Some clients write, and others send requests of most other kinds without a pause. Every request
 * must succeed. The resident memory is printed once a minute: the median of the minute's samples,
 * and the highest. The median must stay below a limit and must not grow. With
 * FAULTS_EMBEDDINGS=local, the service has its model.
 */

const minutes = Number(process.argv[2] ?? 15);
const seed = Number(process.env.FAULTS_SEED ?? Math.floor(Math.random() * 2 ** 31));
const writers = 8;
const pauseMs = 20;
const others = 4;
const samplesPerMinute = 240;
const settleMs = 20_000;
const maxMegabytes = 350;
const maxLogMegabytes = 128;
/** The permitted growth, as a ratio between the last third and the middle third of the minutes. */
const maxGrowth = 1.1;
const megabyte = 1024 * 1024;
const maxDocument = 4_000_000;

const random = createRandom(seed);
const violations = createViolations();
let requests = 0;

console.log(`soak: ${minutes} minutes, seed ${seed}`);
await soak();
for (const violation of violations.list()) console.log(`violation: ${violation}`);
console.log(violations.count() === 0 ? 'soak: held' : 'soak: BROKEN');
process.exitCode = violations.count() === 0 ? 0 : 1;

async function soak(): Promise<void> {
  await using target = createTarget();
  await target.start();
  const load = startLoad({ target, violations, random, clients: writers, pauseMs });
  const loops = startLoops(
    Array.from({ length: others }, (_, index) => {
      const own = random.fork(index);
      return () => sendOne(target, callOf(own));
    }),
  );
  const medians: number[] = [];
  for (let minute = 1; minute <= minutes; minute += 1) {
    medians.push(await watchMinute(target, minute));
  }
  await Promise.all([loops.stop(), load.stop()]);
  await Bun.sleep(settleMs);
  console.log(`${settleMs / 1_000} s after the load: ${residentMegabytes(target)} MB`);
  console.log(JSON.stringify({ requests, ...(await load.settle(60_000)) }));
  if (minutes < 3) return;
  const growth = growthOf(medians);
  console.log(`last third / middle third: ${growth.toFixed(3)}`);
  if (growth > maxGrowth) violations.add(`memory grew by ${growth.toFixed(3)}`);
}

/** Returns a request that the writers do not send, most often for one of their users. */
function callOf(own: Random): Call {
  const user = `userId=client-${own.between(0, writers)}`;
  const name = `${own.between(0, 20)}`;
  const get = (path: string): Call => ({ method: 'GET', path });
  const tool = (name: string, args: object): Call => {
    const path = `/mcp/users/client-${own.between(0, writers)}`;
    return { method: 'POST', path, body: toolCall(name, args) };
  };
  const document = () => 'lorem ipsum '.repeat(1 + (maxDocument / 12) * own.next() ** 12);
  const newItem = () => ({ ...importable(name), id: `mem_${own.next().toString(36).slice(2)}` });
  const items = () => Array.from({ length: own.between(50, 500) }, newItem);
  return own.pick<() => Call>([
    () => get(`/v1/memories?${user}&limit=50`),
    () => get(`/v1/memories?${user}&type=ticket&metadata[subject]=dark`),
    () => get(`/v1/memories/search?${user}&query=prefers+dark+cafe`),
    () => get(`/v1/export?${user}&limit=1000`),
    () => get('/v1/users?limit=100&order=bytes'),
    () => get('/v1/stats'),
    () => tool('search_memories', { query: 'dark mode' }),
    () => tool('list_memories', {}),
    () => ({ method: 'POST', path: '/v1/import', body: { items: items() } }),
    () => ({ method: 'DELETE', path: `/v1/memories?userId=${name}` }),
    () => {
      const body = { userId: 'documents', externalId: name, data: { text: document() } };
      return { method: 'POST', path: '/v1/ingest/document', body };
    },
  ])();
}

async function sendOne(target: Target, call: Call): Promise<void> {
  const begun = performance.now();
  const reply = await send(target, call);
  requests += 1;
  if (reply !== null && reply.status < 300) return;
  const ms = Math.round(performance.now() - begun);
  const answer = `${reply?.status ?? 'no response'} ${reply?.text.slice(0, 200) ?? ''}`;
  violations.add(`${call.method} ${call.path} after ${ms} ms: ${answer}`);
}

/** Prints a line and returns the median of the resident memory. */
async function watchMinute(target: Target, minute: number): Promise<number> {
  const samples: number[] = [];
  while (samples.length < samplesPerMinute) {
    await Bun.sleep(60_000 / samplesPerMinute);
    samples.push(residentMegabytes(target));
  }
  const [resident, log] = [median(samples), fileMegabytes(target, '-wal')];
  if (resident > maxMegabytes) violations.add(`minute ${minute}: ${resident} MB of memory`);
  if (log > maxLogMegabytes) violations.add(`minute ${minute}: the WAL has ${log} MB`);
  const mapped = Math.round(memoryBytes(target.pid, 'RssFile') / megabyte);
  console.log(
    `minute ${minute}: ${resident} MB, at most ${Math.max(...samples)} MB; of this ${mapped} MB ` +
      `are mapped files; database ${fileMegabytes(target, '')} MB, log ${log} MB; ` +
      `${requests} requests`,
  );
  return resident;
}

function residentMegabytes({ pid }: Target): number {
  return Math.round(memoryBytes(pid) / megabyte);
}

function fileMegabytes({ path }: Target, suffix: '' | '-wal'): number {
  const { size = 0 } = statSync(path + suffix, { throwIfNoEntry: false }) ?? {};
  return Math.round(size / megabyte);
}
