import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '../../support/random.ts';
import type { Violations } from '../harness.ts';
import { createTarget } from '../target.ts';
import { startImport } from './command.ts';
import { writeBulkFile } from './file.ts';

/**
 * The numbers of lines. Only the last two sizes are compared. Runs of up to 100,000 lines end
 * before garbage collection reaches a steady state, and their peaks vary by 15 %.
 */
const sizes = [10_000, 300_000, 3_000_000];
/** The permitted growth of the peak when the number of lines grows tenfold. */
const allowed = 1.25;

/** Checks that the command's peak memory does not grow with the file. */
export async function comparePeaks(folder: string, random: Random, violations: Violations) {
  const figures: Record<string, string> = {};
  const peaks: number[] = [];
  for (const lines of sizes) {
    const { bytes, peakBytes } = await peakOf(lines, folder, random, violations);
    peaks.push(peakBytes);
    const megabytes = (size: number) => `${Math.round(size / 1e6)} MB`;
    figures[`peak memory for ${lines} lines`] =
      `${megabytes(peakBytes)} (file ${megabytes(bytes)})`;
  }
  const [, many = 0, most = 0] = peaks;
  if (most > many * allowed)
    violations.add(`peak memory grows with the file: ${peaks.join(', ')} bytes`);
  return figures;
}

async function peakOf(lines: number, folder: string, random: Random, violations: Violations) {
  await using target = createTarget({ env: { MEMORY_RATE_LIMIT: '6000/60' } });
  const path = join(folder, `${lines}.jsonl`);
  await target.start();
  const { bytes, bad } = await writeBulkFile(path, { lines, bad: lines / 200 }, random);
  const order = { target, folder, path, errorsOut: `${path}.bad`, variants: [] };
  const { stderr, peakBytes } = await startImport(order).ended;
  rmSync(path);
  if (!stderr.includes(` ${bad.size} failed.\n`)) violations.add(`${lines} lines: ${stderr}`);
  return { bytes, peakBytes };
}
