/*
 * Fills a database with `count` memories through a running service.
 * Run: bun tests/bench/fill.ts <file> <count>
 * An interrupted run can be repeated. A larger count extends an existing database.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tableOf } from './kit/dataset.ts';
import { fill } from './kit/fill.ts';
import { short } from './kit/numbers.ts';
import { currentTree } from './kit/trees.ts';

const reportEvery = 20_000;
const [file, wanted] = process.argv.slice(2);
const count = Number(wanted);
if (file === undefined || !Number.isSafeInteger(count) || count < 1) {
  console.error('usage: bun tests/bench/fill.ts <file> <count>');
  process.exitCode = 2;
} else {
  const scratch = mkdtempSync(join(tmpdir(), 'memory-bench-'));
  const begun = performance.now();
  await fill(scratch, currentTree, file, tableOf(count), (done) => {
    if (done % reportEvery !== 0 && done !== count) return;
    const perSecond = (done / (performance.now() - begun)) * 1_000;
    console.log(`${done} of ${count} memories, ${short(perSecond)} per second`);
  });
  rmSync(scratch, { recursive: true });
}
