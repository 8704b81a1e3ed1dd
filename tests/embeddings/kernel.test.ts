import { expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { Kernel } from '../../server/embeddings/kernel.ts';

const folder = join(import.meta.dir, '../../server/embeddings');
const module = new Uint8Array(readFileSync(join(folder, 'kernel.wasm')));

/** One for all runs, because each new memory has all garbage collected. */
const kernel = new Kernel(module, 2 ** 23);
const { run } = kernel;

/* The steps whose faults may be too small for the tests of whole vectors in encoder.test.ts. */

/** Places an array in the kernel's memory, and returns its offset. */
function put(array: Float32Array): number {
  const offset = kernel.reserve(array.byteLength);
  kernel
    .bytes(offset, array.byteLength)
    .set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
  return offset;
}

const anyFloat = fc.float({ min: -4, max: 4, noNaN: true });
const floats = (count: number) =>
  fc
    .array(anyFloat, { minLength: count, maxLength: count })
    .map((values) => Float32Array.from(values));

function near(found: Float32Array, expected: number[], tolerance: number): void {
  expect(found.length).toBe(expected.length);
  found.forEach((value, at) => {
    const wanted = expected[at] ?? Number.NaN;
    expect(Math.abs(value - wanted)).toBeLessThanOrEqual(tolerance * (1 + Math.abs(wanted)));
  });
}

const range = (count: number) => Array.from({ length: count }, (_, at) => at);
const at = (array: ArrayLike<number>, index: number) => array[index] ?? Number.NaN;

test('kernel.wasm is compiled from kernel.as (if not: bun .release/kernel.ts --write)', () => {
  for (const line of readFileSync(join(folder, 'kernel.sha256'), 'utf8').trim().split('\n')) {
    const [sum, name = ''] = line.split('  ');
    const content = readFileSync(join(folder, name));
    expect([name, createHash('sha256').update(content).digest('hex')]).toEqual([name, sum ?? '']);
  }
});

test('addNorm() equals a plain loop', () => {
  const cases = fc.record({ x: floats(24), y: floats(24), weight: floats(12), bias: floats(12) });
  const check = fc.property(cases, ({ x, y, weight, bias }) => {
    const sums = x.map((value, index) => value + at(y, index));
    const expected = range(2).flatMap((row) => {
      const part = [...sums.subarray(row * 12, row * 12 + 12)];
      const mean = part.reduce((sum, value) => sum + value, 0) / 12;
      const variance = part.reduce((sum, value) => sum + (value - mean) ** 2, 0) / 12;
      // Where a row has nearly no variance, float32 has no digits left to compare.
      fc.pre(variance > 1e-3);
      return part.map(
        (value, k) => ((value - mean) / Math.sqrt(variance)) * at(weight, k) + at(bias, k),
      );
    });
    const to = put(x);
    run.addNorm(to, put(y), put(weight), put(bias), 2, 12);
    near(kernel.floats(to, 24), expected, 2e-3);
  });
  fc.assert(check, { numRuns: 100 });
});

test('gelu() is within 1e-6 of its definition', () => {
  const x = Float32Array.from(range(2_000), (step) => (step - 1_000) / 100);
  const to = put(x);
  run.gelu(to, x.length);
  near(
    kernel.floats(to, x.length),
    [...x].map((value) => (value / 2) * (1 + erf(value / Math.SQRT2))),
    1e-6,
  );
});

/** The error function, by its series; exact enough for |x| ≤ 7.1. */
function erf(x: number): number {
  if (Math.abs(x) > 5) return Math.sign(x);
  let term = x;
  let sum = x;
  for (let n = 1; n < 200; n += 1) {
    term *= (-x * x) / n;
    sum += term / (2 * n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * sum;
}
