import { existsSync, readFileSync, statSync } from 'node:fs';
import { createRandom } from '../support/random.ts';
import { createViolations } from './harness.ts';
import { createTarget, type Target } from './target.ts';
import { startMixedLoad } from './traffic/mixed.ts';

/*
 *   bun tests/faults/memory.ts [minutes]
 *
 * Sends requests of all kinds without a pause, and prints the server's resident memory once a
 * minute: the median of the minute's samples, and the highest. The median must stay below a limit
 * and must not grow. With FAULTS_EMBEDDINGS=local, the service has its model.
 */

const minutes = Number(process.argv[2] ?? 15);
const seed = Number(process.env.FAULTS_SEED ?? Math.floor(Math.random() * 2 ** 31));
const clients = 12;
const samplesPerMinute = 240;
const settleMs = 20_000;
const maxMegabytes = 350;
/** The permitted growth, as a ratio between the last third and the middle third of the minutes. */
const maxGrowth = 1.1;
const megabyte = 1024 * 1024;

const violations = createViolations();
const target = createTarget();
console.log(`memory: ${minutes} minutes of mixed load from ${clients} clients, seed ${seed}`);
try {
  await target.start();
  console.log(`idle: ${megabytesOf(target, 'VmRSS')} MB`);
  const load = startMixedLoad(target, createRandom(seed), clients);
  const medians = await watch(load.counts);
  await load.stop();
  await Bun.sleep(settleMs);
  console.log(`${settleMs / 1_000} s after the load: ${megabytesOf(target, 'VmRSS')} MB`);
  console.log(JSON.stringify(load.counts));
  for (const failure of load.failures) violations.add(failure);
  judge(medians);
} finally {
  await target.remove();
}
for (const violation of violations.list()) console.log(`violation: ${violation}`);
console.log(violations.count() === 0 ? 'memory: held' : 'memory: BROKEN');
process.exitCode = violations.count() === 0 ? 0 : 1;

/** Prints a line a minute and returns each minute's median. */
async function watch(counts: Record<string, number>): Promise<number[]> {
  const medians: number[] = [];
  for (let minute = 1; minute <= minutes; minute += 1) {
    const samples: number[] = [];
    while (samples.length < samplesPerMinute) {
      await Bun.sleep(60_000 / samplesPerMinute);
      samples.push(megabytesOf(target, 'VmRSS'));
    }
    const requests = Object.values(counts).reduce((sum, count) => sum + count, 0);
    medians.push(median(samples));
    console.log(
      `minute ${minute}: ${median(samples)} MB, at most ${Math.max(...samples)} MB; of this ` +
        `${megabytesOf(target, 'RssFile')} MB are mapped files; database ${fileMegabytes('')} MB, ` +
        `log ${fileMegabytes('-wal')} MB; ${requests} requests`,
    );
  }
  return medians;
}

function judge(medians: number[]): void {
  for (const [index, resident] of medians.entries()) {
    if (resident <= maxMegabytes) continue;
    violations.add(`minute ${index + 1}: ${resident} MB, limit ${maxMegabytes} MB`);
  }
  const third = Math.floor(medians.length / 3);
  const growth = median(medians.slice(-third)) / median(medians.slice(third, 2 * third));
  console.log(`last third / middle third: ${growth.toFixed(3)}`);
  if (third > 0 && growth > maxGrowth) violations.add(`memory grew by ${growth.toFixed(3)}`);
}

function megabytesOf({ pid }: Target, field: 'VmRSS' | 'RssFile'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kilobytes = Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]);
  return Math.round((kilobytes * 1_024) / megabyte);
}

function fileMegabytes(suffix: '' | '-wal'): number {
  const file = `${target.path}${suffix}`;
  return existsSync(file) ? Math.round(statSync(file).size / megabyte) : 0;
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
