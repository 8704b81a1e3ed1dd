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

/** Places an array in the kernel's memory, and returns its offset. */
function put(array: Float32Array | Int16Array | Int8Array): number {
  const offset = kernel.reserve(array.byteLength);
  kernel
    .bytes(offset, array.byteLength)
    .set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
  return offset;
}

const floats = (count: number, largest = 4) =>
  fc
    .array(fc.float({ min: -largest, max: largest, noNaN: true }), {
      minLength: count,
      maxLength: count,
    })
    .map((values) => Float32Array.from(values));
const ints = (count: number, largest: number) =>
  fc
    .array(fc.integer({ min: -largest, max: largest }), { minLength: count, maxLength: count })
    .map((values) => Int16Array.from(values));

function near(found: Float32Array, expected: number[], tolerance = 1e-5): void {
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

test('multiply() equals a plain loop', () => {
  const shapes = fc.record({
    rows: fc.integer({ min: 1, max: 9 }),
    depth: fc.integer({ min: 1, max: 6 }).map((eights) => eights * 8),
    columns: fc.integer({ min: 1, max: 3 }).map((fours) => fours * 4),
  });
  const cases = shapes.chain(({ rows, depth, columns }) =>
    fc.record({
      shape: fc.constant({ rows, depth, columns }),
      a: ints(rows * depth, 4_095),
      b: ints(columns * depth, 127),
      scalesA: floats(rows),
      scalesB: floats(columns),
      bias: floats(columns),
    }),
  );
  const check = fc.property(cases, ({ shape, a, b, scalesA, scalesB, bias }) => {
    const { rows, depth, columns } = shape;
    const out = kernel.reserve(rows * columns * 4);
    const [sa, sb, pb] = [put(scalesA), put(scalesB), put(bias)];
    run.multiply(put(a), sa, put(Int8Array.from(b)), sb, pb, out, rows, depth, columns);
    const expected = range(rows * columns).map((index) => {
      const [m, n] = [Math.floor(index / columns), index % columns];
      const products = range(depth).map((k) => at(a, m * depth + k) * at(b, n * depth + k));
      const dot = products.reduce((sum, product) => sum + product, 0);
      return dot * at(scalesA, m) * at(scalesB, n) + at(bias, n);
    });
    near(kernel.floats(out, rows * columns), expected);
  });
  fc.assert(check, { numRuns: 100 });
});

test('quantize() keeps 13 bits of each row', () => {
  const check = fc.property(
    fc.integer({ min: 1, max: 5 }).chain((rows) => floats(rows * 16)),
    (x) => {
      const rows = x.length / 16;
      const [out, scales] = [kernel.reserve(x.length * 2), kernel.reserve(rows * 4)];
      run.quantize(put(x), out, scales, rows, 16);
      const found = new Int16Array(kernel.bytes(out, x.length * 2).slice().buffer);
      x.forEach((value, index) => {
        const scale = at(kernel.floats(scales, rows), Math.floor(index / 16));
        expect(Math.abs(at(found, index) * scale - value)).toBeLessThanOrEqual(scale * 0.501);
        expect(Math.abs(at(found, index))).toBeLessThanOrEqual(4_095);
      });
    },
  );
  fc.assert(check, { numRuns: 100 });
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

test('attend() equals a plain loop', () => {
  const shape = fc.integer({ min: 1, max: 5 });
  const cases = shape.chain((tokens) =>
    fc.record({ q: floats(tokens * 32), k: floats(tokens * 32), v: floats(tokens * 32) }),
  );
  const check = fc.property(cases, ({ q, k, v }) => {
    const [heads, size, tokens] = [2, 16, q.length / 32];
    const [out, row] = [kernel.reserve(q.byteLength), kernel.reserve(tokens * 4)];
    run.attend(put(q), put(k), put(v), out, row, tokens, heads, size);
    const value = (array: Float32Array, token: number, head: number, d: number) =>
      at(array, token * 32 + head * size + d);
    const expected = range(tokens).flatMap((i) =>
      range(heads).flatMap((head) => {
        const weights = range(tokens).map((j) => {
          const products = range(size).map((d) => value(q, i, head, d) * value(k, j, head, d));
          return Math.exp(products.reduce((sum, one) => sum + one, 0) / Math.sqrt(size));
        });
        const total = weights.reduce((sum, one) => sum + one, 0);
        return range(size).map((d) =>
          weights.reduce((sum, weight, j) => sum + (weight / total) * value(v, j, head, d), 0),
        );
      }),
    );
    near(kernel.floats(out, q.length), expected, 1e-3);
  });
  fc.assert(check, { numRuns: 100 });
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
