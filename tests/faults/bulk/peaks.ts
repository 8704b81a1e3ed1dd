import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '../../support/random.ts';
import type { Violations } from '../harness.ts';
import { createTarget } from '../target.ts';
import { startImport } from './command.ts';
import { writeBulkFile } from './file.ts';

/** The first is not compared: it ends before garbage collection reaches a steady state. */
const sizes = [10_000, 100_000, 1_000_000];
/**
 * The allowed growth of the peak for ten times the lines. Most of the peak is garbage that was not
 * collected yet: with 0.3, 1 and 3 million lines it was 100, 105 and 114 MB, with 0.1 million it
 * varied from 90 to 103 MB between runs. A queue that was not bounded took 254 MB for a million.
 */
const allowed = 1.5;

/** The command's peak memory must not grow with the file. */
export async function comparePeaks(folder: string, random: Random, violations: Violations) {
  const figures: Record<string, string> = {};
  const peaks: number[] = [];
  for (const lines of sizes) {
    const { bytes, peakBytes } = await peakOf(lines, folder, random, violations);
    peaks.push(peakBytes);
    const megabytes = (size: number) => `${Math.round(size / 1e6)} MB`;
    figures[`peakOf${lines}`] = `${megabytes(peakBytes)} (a file of ${megabytes(bytes)})`;
  }
  const [, many = 0, most = 0] = peaks;
  if (most > many * allowed) violations.add(`memory grows with the file: ${peaks.join(', ')}`);
  return figures;
}

async function peakOf(lines: number, folder: string, random: Random, violations: Violations) {
  const target = createTarget({ env: { MEMORY_RATE_LIMIT: '6000/60' } });
  const path = join(folder, `${lines}.jsonl`);
  try {
    await target.start();
    const { bytes, bad } = await writeBulkFile(path, { lines, bad: lines / 200 }, random);
    const order = { target, folder, path, errorsOut: `${path}.bad`, variants: [] };
    const { stdout, stderr, peakBytes } = await startImport(order).ended;
    if (!stdout.includes(`failed\t${bad.size}\n`)) violations.add(`${lines} lines: ${stderr}`);
    return { bytes, peakBytes };
  } finally {
    await target.remove();
    rmSync(path, { force: true });
  }
}
