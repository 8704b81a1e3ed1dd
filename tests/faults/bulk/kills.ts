import { rmSync } from 'node:fs';
import type { Random } from '../../support/random.ts';
import type { Violations } from '../harness.ts';
import { restart, type Target } from '../target.ts';
import { type Ended, type Order, type Running, startImport } from './command.ts';
import { readErrors } from './compare.ts';
import type { BulkFile } from './file.ts';

const killWithinMs = 30;
const unreachable = 5;

/**
 * Starts the command, then kills and restarts it at random moments, and finally restarts the server
 * while the command runs. Returns the result of the run that reached the end of the file.
 */
export async function importUnderKills(
  order: Order,
  target: Target,
  { bad }: BulkFile,
  times: number,
  random: Random,
  violations: Violations,
): Promise<Ended> {
  const begin = () => {
    // The reported errors must not include those of an earlier run.
    rmSync(order.errorsOut, { force: true });
    return startImport(order);
  };
  // Bad lines are spread over the file, so the number reported so far measures the progress.
  const moments = Array.from({ length: times + 1 }, () => random.between(1, bad.size * 0.7));
  moments.sort((a, b) => a - b);
  let running = begin();
  for (const reports of moments.slice(0, times)) {
    await reached(running, order, reports, random);
    if (!running.running()) violations.add('the command exited before it could be killed');
    running.kill();
    await running.ended;
    running = begin();
  }
  await reached(running, order, moments.at(-1) ?? 0, random);
  await restart(target);
  const ended = await running.ended;
  // If the server is unavailable for too long, the command exits and asks to be run again.
  if (ended.code !== unreachable) return ended;
  if (!ended.stderr.includes('Run the same command again')) violations.add(ended.stderr);
  return begin().ended;
}

async function reached({ running }: Running, order: Order, reports: number, random: Random) {
  while (running() && readErrors(order.errorsOut).length < reports) await Bun.sleep(2);
  await Bun.sleep(random.between(0, killWithinMs));
}
