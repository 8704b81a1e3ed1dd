import { existsSync, readFileSync, statSync } from 'node:fs';
import { createRandom } from '../support/random.ts';
import { drained } from './api.ts';
import { createViolations } from './harness.ts';
import { createLedger } from './ledger.ts';
import { startLoad } from './load.ts';
import { createTarget, restart, type Target } from './target.ts';

/*
 *   bun tests/faults/soak.ts [minutes]
 *
 * Runs a mixed load. In the first half, the server is killed or stopped, and started again, every
 * few seconds. In the second half, the server keeps running, and the program samples the server's
 * memory and the length of the WAL.
 */

const minutes = Number(process.argv[2] ?? 20);
const seed = Number(process.env.FAULTS_SEED ?? Math.floor(Math.random() * 2 ** 31));
const clients = 8;
const pauseMs = 20;
const restartEveryMs = { from: 5_000, to: 25_000 };
const sampleEveryMs = 5_000;
const longestLogBytes = 128 * 1024 * 1024;
const allowedGrowth = 0.1;

const random = createRandom(seed);
const violations = createViolations();
const ledger = createLedger();
const target = createTarget();
const halfMs = (minutes * 60_000) / 2;
console.log(`soak: ${minutes} minutes, seed ${seed}`);
try {
  await target.start();
  const load = startLoad({ target, ledger, violations, random, clients, pauseMs });
  const restarts = await troubledHalf();
  const samples = await quietHalf();
  await load.stop();
  if (!(await drained(target, 60_000)))
    violations.add('the queue was not empty before the time limit');
  const found = await ledger.compare(target, violations);
  const growth = checkMemory(samples.map(({ residentBytes }) => residentBytes));
  const logMegabytes = Math.max(...samples.map(({ logBytes }) => logBytes)) / 1_048_576;
  console.log(JSON.stringify({ ...restarts, ...ledger.counts, ...found, ...growth, logMegabytes }));
} finally {
  await target.remove();
}
for (const violation of violations.list()) console.log(`violation: ${violation}`);
console.log(violations.count() === 0 ? 'soak: held' : 'soak: BROKEN');
process.exitCode = violations.count() === 0 ? 0 : 1;

async function troubledHalf() {
  const until = performance.now() + halfMs;
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
  return counts;
}

type Sample = { residentBytes: number; logBytes: number };

async function quietHalf(): Promise<Sample[]> {
  const until = performance.now() + halfMs;
  const samples: Sample[] = [];
  while (performance.now() < until) {
    await Bun.sleep(sampleEveryMs);
    const sample = observe(target);
    samples.push(sample);
    if (sample.logBytes > longestLogBytes) violations.add(`the WAL has ${sample.logBytes} bytes`);
  }
  return samples;
}

function observe({ pid, path }: Target): Sample {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kilobytes = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0);
  const log = `${path}-wal`;
  return { residentBytes: kilobytes * 1_024, logBytes: existsSync(log) ? statSync(log).size : 0 };
}

/**
 * Compares memory at the end of the quiet half with memory in its middle. Each value is the median
 * of a tenth of the samples.
 */
function checkMemory(resident: number[]) {
  const width = Math.max(1, Math.floor(resident.length / 10));
  const middleAt = Math.floor(resident.length / 2);
  const middle = median(resident.slice(middleAt, middleAt + width));
  const end = median(resident.slice(-width));
  const growth = end / middle - 1;
  if (growth > allowedGrowth) violations.add(`memory grew by ${(growth * 100).toFixed(1)} %`);
  const megabytes = (bytes: number) => Math.round(bytes / 1_048_576);
  return { middleMb: megabytes(middle), endMb: megabytes(end), growth: Number(growth.toFixed(3)) };
}

function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
