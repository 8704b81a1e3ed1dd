/*
 * Grows a database to so many memories. Run: bun tests/bench/fill.ts <file> <count>
 * It goes on where it was interrupted; a larger count later adds to what is there.
 */
import { fill } from './kit/fill.ts';
import { short } from './kit/numbers.ts';

const [file, wanted] = process.argv.slice(2);
const count = Number(wanted);
if (file === undefined || !Number.isSafeInteger(count) || count < 1) {
  console.error('usage: bun tests/bench/fill.ts <file> <count>');
  process.exitCode = 2;
} else {
  let begun = 0;
  let first: number | undefined;
  fill(file, count, (done) => {
    // Opening the file and the first rows are not counted.
    if (first === undefined) begun = performance.now();
    first ??= done;
    const perSecond = ((done - first) / (performance.now() - begun)) * 1_000;
    console.log(`${done} of ${count} memories, ${short(perSecond)} a second`);
  });
}
