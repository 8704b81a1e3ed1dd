// The loops of a BERT encoder over raw memory, in AssemblyScript, compiled to kernel.wasm by
// `bun .release/kernel.ts --write`. Every sum has a fixed order, so that all machines
// compute the same bits. Pointers are byte offsets; `rows` and `columns` count elements.

// @ts-nocheck

/**
 * out[m][n] = scalesA[m] * scalesB[n] * dot(a[m], b[n]) + bias[n].
 * a: int16 [rows][depth] of at most 13 bits, b: int8 [columns][depth], out: float32.
 * `depth` is a multiple of 8, `columns` of 4.
 */
export function multiply(
  a: usize, scalesA: usize, b: usize, scalesB: usize, bias: usize, out: usize,
  rows: i32, depth: i32, columns: i32,
): void {
  const rowA = depth << 1, rowB = depth, rowOut = columns << 2;
  for (let n: i32 = 0; n < columns; n += 4) {
    const b0 = b + n * rowB, at = n << 2;
    let m: i32 = 0;
    for (; m + 4 <= rows; m += 4) {
      for (let pair: i32 = 0; pair < 2; pair++) {
        const to = at + (pair << 3);
        multiply4(a + m * rowA, rowA, scalesA + (m << 2), b0 + 2 * pair * rowB, scalesB + to,
          bias + to, out + m * rowOut + to, rowOut, rowB);
      }
    }
    if (m + 2 <= rows) {
      multiply2(a + m * rowA, rowA, scalesA + (m << 2), b0, scalesB + at, bias + at,
        out + m * rowOut + at, rowOut, rowB);
      m += 2;
    }
    if (m < rows) {
      multiply1(a + m * rowA, load<f32>(scalesA + (m << 2)), b0, scalesB + at, bias + at,
        out + m * rowOut + at, rowB);
    }
  }
}

// Four rows of a and two of b at a time: each loaded value is used more than once.
// @ts-ignore: decorator
@inline
function multiply4(
  a0: usize, rowA: i32, scalesA: usize, b0: usize, scalesB: usize, bias: usize,
  out: usize, rowOut: i32, depth: i32,
): void {
  const a1 = a0 + rowA, a2 = a1 + rowA, a3 = a2 + rowA, b1 = b0 + depth;
  let x00 = i32x4.splat(0), x01 = x00, x10 = x00, x11 = x00;
  let x20 = x00, x21 = x00, x30 = x00, x31 = x00;
  for (let k: i32 = 0; k < depth; k += 8) {
    const w0 = v128.load_ext<i8>(b0 + k), w1 = v128.load_ext<i8>(b1 + k), at = k << 1;
    let v = v128.load(a0 + at);
    x00 = i32x4.add(x00, i32x4.dot_i16x8_s(v, w0));
    x01 = i32x4.add(x01, i32x4.dot_i16x8_s(v, w1));
    v = v128.load(a1 + at);
    x10 = i32x4.add(x10, i32x4.dot_i16x8_s(v, w0));
    x11 = i32x4.add(x11, i32x4.dot_i16x8_s(v, w1));
    v = v128.load(a2 + at);
    x20 = i32x4.add(x20, i32x4.dot_i16x8_s(v, w0));
    x21 = i32x4.add(x21, i32x4.dot_i16x8_s(v, w1));
    v = v128.load(a3 + at);
    x30 = i32x4.add(x30, i32x4.dot_i16x8_s(v, w0));
    x31 = i32x4.add(x31, i32x4.dot_i16x8_s(v, w1));
  }
  storePair(out, x00, x01, load<f32>(scalesA), scalesB, bias);
  storePair(out + rowOut, x10, x11, load<f32>(scalesA, 4), scalesB, bias);
  storePair(out + 2 * rowOut, x20, x21, load<f32>(scalesA, 8), scalesB, bias);
  storePair(out + 3 * rowOut, x30, x31, load<f32>(scalesA, 12), scalesB, bias);
}

// Two rows of a and four of b.
// @ts-ignore: decorator
@inline
function multiply2(
  a0: usize, rowA: i32, scalesA: usize, b0: usize, scalesB: usize, bias: usize,
  out: usize, rowOut: i32, depth: i32,
): void {
  const a1 = a0 + rowA, b1 = b0 + depth, b2 = b1 + depth, b3 = b2 + depth;
  let x00 = i32x4.splat(0), x01 = x00, x02 = x00, x03 = x00;
  let x10 = x00, x11 = x00, x12 = x00, x13 = x00;
  for (let k: i32 = 0; k < depth; k += 8) {
    const v0 = v128.load(a0 + (k << 1)), v1 = v128.load(a1 + (k << 1));
    let w = v128.load_ext<i8>(b0 + k);
    x00 = i32x4.add(x00, i32x4.dot_i16x8_s(v0, w));
    x10 = i32x4.add(x10, i32x4.dot_i16x8_s(v1, w));
    w = v128.load_ext<i8>(b1 + k);
    x01 = i32x4.add(x01, i32x4.dot_i16x8_s(v0, w));
    x11 = i32x4.add(x11, i32x4.dot_i16x8_s(v1, w));
    w = v128.load_ext<i8>(b2 + k);
    x02 = i32x4.add(x02, i32x4.dot_i16x8_s(v0, w));
    x12 = i32x4.add(x12, i32x4.dot_i16x8_s(v1, w));
    w = v128.load_ext<i8>(b3 + k);
    x03 = i32x4.add(x03, i32x4.dot_i16x8_s(v0, w));
    x13 = i32x4.add(x13, i32x4.dot_i16x8_s(v1, w));
  }
  const scale0 = load<f32>(scalesA), scale1 = load<f32>(scalesA, 4);
  storePair(out, x00, x01, scale0, scalesB, bias);
  storePair(out + 8, x02, x03, scale0, scalesB + 8, bias + 8);
  storePair(out + rowOut, x10, x11, scale1, scalesB, bias);
  storePair(out + rowOut + 8, x12, x13, scale1, scalesB + 8, bias + 8);
}

// @ts-ignore: decorator
@inline
function multiply1(
  a: usize, scaleA: f32, b0: usize, scalesB: usize, bias: usize, out: usize, depth: i32,
): void {
  const b1 = b0 + depth, b2 = b1 + depth, b3 = b2 + depth;
  let x0 = i32x4.splat(0), x1 = x0, x2 = x0, x3 = x0;
  for (let k: i32 = 0; k < depth; k += 8) {
    const v = v128.load(a + (k << 1));
    x0 = i32x4.add(x0, i32x4.dot_i16x8_s(v, v128.load_ext<i8>(b0 + k)));
    x1 = i32x4.add(x1, i32x4.dot_i16x8_s(v, v128.load_ext<i8>(b1 + k)));
    x2 = i32x4.add(x2, i32x4.dot_i16x8_s(v, v128.load_ext<i8>(b2 + k)));
    x3 = i32x4.add(x3, i32x4.dot_i16x8_s(v, v128.load_ext<i8>(b3 + k)));
  }
  storePair(out, x0, x1, scaleA, scalesB, bias);
  storePair(out + 8, x2, x3, scaleA, scalesB + 8, bias + 8);
}

// @ts-ignore: decorator
@inline
function storePair(
  out: usize, x0: v128, x1: v128, scaleA: f32, scalesB: usize, bias: usize,
): void {
  store<f32>(out, sumOfInts(x0) * scaleA * load<f32>(scalesB) + load<f32>(bias));
  store<f32>(out, sumOfInts(x1) * scaleA * load<f32>(scalesB, 4) + load<f32>(bias, 4), 4);
}

// @ts-ignore: decorator
@inline
function sumOfInts(v: v128): f32 {
  return f32(
    i32x4.extract_lane(v, 0) + i32x4.extract_lane(v, 1) +
    i32x4.extract_lane(v, 2) + i32x4.extract_lane(v, 3),
  );
}

// @ts-ignore: decorator
@inline
function sumOfFloats(v: v128): f32 {
  return (
    f32x4.extract_lane(v, 0) + f32x4.extract_lane(v, 1) +
    f32x4.extract_lane(v, 2) + f32x4.extract_lane(v, 3)
  );
}

/** Converts float32 rows to int16 of 13 bits, with one scale a row. `columns` % 8 = 0. */
export function quantize(x: usize, out: usize, scales: usize, rows: i32, columns: i32): void {
  for (let m: i32 = 0; m < rows; m++) {
    const row = x + m * (columns << 2), to = out + m * (columns << 1);
    let most = f32x4.splat(0);
    for (let k: i32 = 0; k < columns << 2; k += 16) {
      most = f32x4.pmax(most, f32x4.abs(v128.load(row + k)));
    }
    const largest = max(
      max(f32x4.extract_lane(most, 0), f32x4.extract_lane(most, 1)),
      max(f32x4.extract_lane(most, 2), f32x4.extract_lane(most, 3)),
    );
    const scale: f32 = largest > 0 ? largest / 4095 : 1;
    store<f32>(scales + (m << 2), scale);
    const factor = f32x4.splat(1 / scale);
    for (let k: i32 = 0; k < columns; k += 8) {
      const at = row + (k << 2);
      const low = f32x4.nearest(f32x4.mul(v128.load(at), factor));
      const high = f32x4.nearest(f32x4.mul(v128.load(at, 16), factor));
      v128.store(to + (k << 1), i16x8.narrow_i32x4_s(
        i32x4.trunc_sat_f32x4_s(low), i32x4.trunc_sat_f32x4_s(high),
      ));
    }
  }
}

/** x = layerNorm(x + y) * weight + bias, for each row of float32. `columns` % 4 = 0. */
export function addNorm(
  x: usize, y: usize, weight: usize, bias: usize, rows: i32, columns: i32,
): void {
  for (let m: i32 = 0; m < rows; m++) {
    const rowX = x + m * (columns << 2), rowY = y + m * (columns << 2);
    let sum = f32x4.splat(0), squares = sum;
    for (let k: i32 = 0; k < columns << 2; k += 16) {
      const v = f32x4.add(v128.load(rowX + k), v128.load(rowY + k));
      v128.store(rowX + k, v);
      sum = f32x4.add(sum, v);
      squares = f32x4.add(squares, f32x4.mul(v, v));
    }
    const mean = sumOfFloats(sum) / f32(columns);
    const variance = sumOfFloats(squares) / f32(columns) - mean * mean;
    const means = f32x4.splat(mean), inverse = f32x4.splat(1 / Mathf.sqrt(variance + 1e-12));
    for (let k: i32 = 0; k < columns << 2; k += 16) {
      const v = f32x4.mul(f32x4.sub(v128.load(rowX + k), means), inverse);
      v128.store(rowX + k, f32x4.add(f32x4.mul(v, v128.load(weight + k)), v128.load(bias + k)));
    }
  }
}

/** x = gelu(x), with a rational approximation of erf. `count` % 4 = 0. */
export function gelu(x: usize, count: i32): void {
  const half = f32x4.splat(0.5), one = f32x4.splat(1), inverseRoot2 = f32x4.splat(0.70710678);
  const low = f32x4.splat(-4), high = f32x4.splat(4);
  for (let k: i32 = 0; k < count << 2; k += 16) {
    const v = v128.load(x + k);
    const t = f32x4.pmax(low, f32x4.pmin(high, f32x4.mul(v, inverseRoot2)));
    const s = f32x4.mul(t, t);
    let p = f32x4.splat(-2.72614225801306e-10);
    p = step(p, s, 2.77068142495902e-08);
    p = step(p, s, -2.10102402082508e-06);
    p = step(p, s, -5.69250639462346e-05);
    p = step(p, s, -7.34990630326855e-04);
    p = step(p, s, -2.95459980854025e-03);
    p = f32x4.mul(step(p, s, -1.60960333262415e-02), t);
    let q = f32x4.splat(-1.45660718464996e-05);
    q = step(q, s, -2.13374055278905e-04);
    q = step(q, s, -1.68282697438203e-03);
    q = step(q, s, -7.37332916720468e-03);
    q = step(q, s, -1.42647390514189e-02);
    v128.store(x + k, f32x4.mul(f32x4.mul(half, v), f32x4.add(one, f32x4.div(p, q))));
  }
}

// One step of Horner's scheme.
// @ts-ignore: decorator
@inline
function step(p: v128, s: v128, coefficient: f32): v128 {
  return f32x4.add(f32x4.mul(p, s), f32x4.splat(coefficient));
}

/**
 * Multi-head attention. q, k, v, out: float32 [tokens][heads * size]; `row` is space for one
 * float32 a token, rounded up to four. `size` % 16 = 0.
 */
export function attend(
  q: usize, k: usize, v: usize, out: usize, row: usize, tokens: i32, heads: i32, size: i32,
): void {
  const stride = (heads * size) << 2, bytes = size << 2;
  const scale: f32 = 1 / Mathf.sqrt(f32(size));
  for (let head: i32 = 0; head < heads; head++) {
    const offset = (head * size) << 2;
    for (let i: i32 = 0; i < tokens; i++) {
      const sum = weighKeys(q + i * stride + offset, k + offset, row, tokens, stride, bytes, scale);
      const inverse = f32x4.splat(1 / sum), to = out + i * stride + offset;
      for (let d: i32 = 0; d < bytes; d += 64) mix(v + offset + d, row, to + d, tokens, stride, inverse);
    }
  }
}

// Writes the sum of row[j] * v[j], times `factor`: 16 columns.
function mix(v: usize, row: usize, out: usize, tokens: i32, stride: i32, factor: v128): void {
  let x0 = f32x4.splat(0), x1 = x0, x2 = x0, x3 = x0;
  for (let j: i32 = 0; j < tokens; j++) {
    const weight = v128.load32_splat(row + (j << 2)), from = v + j * stride;
    x0 = f32x4.add(x0, f32x4.mul(weight, v128.load(from)));
    x1 = f32x4.add(x1, f32x4.mul(weight, v128.load(from, 16)));
    x2 = f32x4.add(x2, f32x4.mul(weight, v128.load(from, 32)));
    x3 = f32x4.add(x3, f32x4.mul(weight, v128.load(from, 48)));
  }
  v128.store(out, f32x4.mul(x0, factor));
  v128.store(out, f32x4.mul(x1, factor), 16);
  v128.store(out, f32x4.mul(x2, factor), 32);
  v128.store(out, f32x4.mul(x3, factor), 48);
}

// Writes exp(q · k[j] * scale - largest) to row[j] and returns the sum. The row has space for a
// multiple of four.
function weighKeys(
  q: usize, k: usize, row: usize, tokens: i32, stride: i32, bytes: i32, scale: f32,
): f32 {
  let most = f32x4.splat(-1e30), j: i32 = 0;
  for (; j + 4 <= tokens; j += 4) {
    const weights = f32x4.mul(fourDots(q, k + j * stride, stride, bytes), f32x4.splat(scale));
    v128.store(row + (j << 2), weights);
    most = f32x4.pmax(most, weights);
  }
  if (j < tokens) {
    v128.store(row + (j << 2), f32x4.splat(-1e30));
    for (; j < tokens; j++) {
      store<f32>(row + (j << 2), sumOfFloats(oneDot(q, k + j * stride, bytes)) * scale);
    }
    most = f32x4.pmax(most, v128.load(row + ((j - 1 & ~3) << 2)));
  }
  const largest = f32x4.splat(max(
    max(f32x4.extract_lane(most, 0), f32x4.extract_lane(most, 1)),
    max(f32x4.extract_lane(most, 2), f32x4.extract_lane(most, 3)),
  ));
  let sum = f32x4.splat(0);
  for (j = 0; j < tokens; j += 4) {
    const weights = exp(f32x4.sub(v128.load(row + (j << 2)), largest));
    v128.store(row + (j << 2), weights);
    sum = f32x4.add(sum, weights);
  }
  return sumOfFloats(sum);
}

// The dot products of q with four rows.
// @ts-ignore: decorator
@inline
function fourDots(q: usize, key: usize, stride: i32, bytes: i32): v128 {
  let x0 = f32x4.splat(0), x1 = x0, x2 = x0, x3 = x0;
  for (let d: i32 = 0; d < bytes; d += 16) {
    const v = v128.load(q + d), from = key + d;
    x0 = f32x4.add(x0, f32x4.mul(v, v128.load(from)));
    x1 = f32x4.add(x1, f32x4.mul(v, v128.load(from + stride)));
    x2 = f32x4.add(x2, f32x4.mul(v, v128.load(from + 2 * stride)));
    x3 = f32x4.add(x3, f32x4.mul(v, v128.load(from + 3 * stride)));
  }
  const y0 = f32x4.add(v128.shuffle<f32>(x0, x1, 0, 4, 1, 5), v128.shuffle<f32>(x0, x1, 2, 6, 3, 7));
  const y1 = f32x4.add(v128.shuffle<f32>(x2, x3, 0, 4, 1, 5), v128.shuffle<f32>(x2, x3, 2, 6, 3, 7));
  return f32x4.add(v128.shuffle<f32>(y0, y1, 0, 1, 4, 5), v128.shuffle<f32>(y0, y1, 2, 3, 6, 7));
}

// @ts-ignore: decorator
@inline
function oneDot(q: usize, key: usize, bytes: i32): v128 {
  let dot = f32x4.splat(0);
  for (let d: i32 = 0; d < bytes; d += 16) {
    dot = f32x4.add(dot, f32x4.mul(v128.load(q + d), v128.load(key + d)));
  }
  return dot;
}

// exp(x) for x <= 0: 2^n times the exponential of the rest, by a polynomial. Tiny results are about
// 1e-38 instead of 0.
// @ts-ignore: decorator
@inline
function exp(v: v128): v128 {
  const x = f32x4.pmax(v, f32x4.splat(-87));
  const n = f32x4.nearest(f32x4.mul(x, f32x4.splat(1.44269504)));
  // ln 2 in two parts, so that the rest is exact.
  const r = f32x4.sub(
    f32x4.sub(x, f32x4.mul(n, f32x4.splat(0.693359375))),
    f32x4.mul(n, f32x4.splat(-2.12194440e-4)),
  );
  let p = f32x4.splat(1 / 720);
  p = step(p, r, 1 / 120);
  p = step(p, r, 1 / 24);
  p = step(p, r, 1 / 6);
  p = step(p, r, 1 / 2);
  p = step(p, r, 1);
  p = step(p, r, 1);
  const power = i32x4.shl(i32x4.add(i32x4.trunc_sat_f32x4_s(n), i32x4.splat(127)), 23);
  return f32x4.mul(p, power);
}
