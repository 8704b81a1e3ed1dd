import { statSync } from 'node:fs';
import { median } from '../bench/kit/numbers.ts';
import { memoryBytes } from '../support/process.ts';
import { createRandom } from '../support/random.ts';
import { createViolations } from './harness.ts';
import { startLoad } from './load.ts';
import { createTarget, restart, type Target } from './target.ts';
import { startMixedLoad } from './traffic/mixed.ts';

/*
 *   bun tests/faults/soak.ts [minutes]
 *
 * In the first half of the time, clients write while the server is killed or stopped, and started
 * again, every few seconds. In the second half, clients send requests of all kinds without a pause
 * to a new server, whose resident memory is printed once a minute: the median of the minute's
 * samples, and the highest. The median must stay below a limit and must not grow. With
 * FAULTS_EMBEDDINGS=local, the service has its model.
 */

/** Of each half. Memory is judged once a minute. */
const minutes = Math.ceil(Number(process.argv[2] ?? 30) / 2);
const seed = Number(process.env.FAULTS_SEED ?? Math.floor(Math.random() * 2 ** 31));
const writers = 8;
const pauseMs = 20;
const restartEveryMs = { from: 5_000, to: 25_000 };
const clients = 12;
const samplesPerMinute = 240;
const settleMs = 20_000;
const maxMegabytes = 350;
const maxLogMegabytes = 128;
/** The permitted growth, as a ratio between the last third and the middle third of the minutes. */
const maxGrowth = 1.1;
const megabyte = 1024 * 1024;

const random = createRandom(seed);
const violations = createViolations();
console.log(`soak: ${minutes} minutes of restarts, ${minutes} of mixed load, seed ${seed}`);
await restartUnderLoad();
await watchUnderLoad();
for (const violation of violations.list()) console.log(`violation: ${violation}`);
console.log(violations.count() === 0 ? 'soak: held' : 'soak: BROKEN');
process.exitCode = violations.count() === 0 ? 0 : 1;

async function restartUnderLoad(): Promise<void> {
  await using target = createTarget();
  await target.start();
  const load = startLoad({ target, violations, random, clients: writers, pauseMs });
  const until = performance.now() + minutes * 60_000;
  const counts = { kills: 0, stops: 0 };
  while (performance.now() < until) {
    await Bun.sleep(random.between(restartEveryMs.from, restartEveryMs.to));
    if (random.chance(0.7)) {
      await restart(target);
      counts.kills += 1;
    } else {
      const code = await target.stop();
      if (code !== 0) violations.add(`the server exited with code ${code} after SIGTERM`);
      await target.start();
      counts.stops += 1;
    }
  }
  console.log(JSON.stringify({ ...counts, ...(await load.settle(60_000)) }));
}

async function watchUnderLoad(): Promise<void> {
  await using target = createTarget();
  await target.start();
  console.log(`idle: ${residentMegabytes(target)} MB`);
  const load = startMixedLoad(target, random, clients);
  const medians: number[] = [];
  for (let minute = 1; minute <= minutes; minute += 1) {
    medians.push(await watchMinute(target, minute, load.counts));
  }
  await load.stop();
  await Bun.sleep(settleMs);
  console.log(`${settleMs / 1_000} s after the load: ${residentMegabytes(target)} MB`);
  console.log(JSON.stringify(load.counts));
  for (const failure of load.failures) violations.add(failure);
  const third = Math.floor(medians.length / 3);
  if (third === 0) return;
  const growth = median(medians.slice(-third)) / median(medians.slice(third, 2 * third));
  console.log(`last third / middle third: ${growth.toFixed(3)}`);
  if (growth > maxGrowth) violations.add(`memory grew by ${growth.toFixed(3)}`);
}

/** Prints a line and returns the median of the resident memory. */
async function watchMinute(target: Target, minute: number, counts: Record<string, number>) {
  const samples: number[] = [];
  while (samples.length < samplesPerMinute) {
    await Bun.sleep(60_000 / samplesPerMinute);
    samples.push(residentMegabytes(target));
  }
  const [resident, log] = [median(samples), fileMegabytes(target, '-wal')];
  if (resident > maxMegabytes) violations.add(`minute ${minute}: ${resident} MB of memory`);
  if (log > maxLogMegabytes) violations.add(`minute ${minute}: the WAL has ${log} MB`);
  const requests = Object.values(counts).reduce((sum, count) => sum + count, 0);
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
