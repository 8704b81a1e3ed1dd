import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readTensors, type Tensor } from '../server/embeddings/weights.ts';
import { root } from './staging.ts';

/*
 * Makes the int8 model file from the original, byte for byte the one in the repository:
 *
 *   bun .release/weights.ts FOLDER [FILE]
 *
 * FOLDER holds model.safetensors of sentence-transformers/all-MiniLM-L6-v2. Without FILE, the
 * file in server/embeddings/minilm is written.
 */
const originalSha256 = '53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db';
/** The encoder reads at most this many tokens. */
const positions = 256;
const dims = 384;

type Entry = { name: string; dtype: string; shape: number[]; data: Uint8Array };

/** Rows of int8 with one scale each: value ≈ int8 * scale. */
function quantizeRows(name: string, [rows = 0, columns = 0]: number[], values: Float32Array) {
  const data = new Int8Array(rows * columns);
  const scales = new Float32Array(rows);
  for (let row = 0; row < rows; row += 1) {
    const from = row * columns;
    const part = values.subarray(from, from + columns);
    const scale = Math.fround(part.reduce((most, x) => Math.max(most, Math.abs(x)), 0) / 127) || 1;
    scales[row] = scale;
    for (let at = 0; at < columns; at += 1) data[from + at] = Math.round((part[at] ?? 0) / scale);
  }
  return [
    tensor(`${name}.weight`, 'I8', [rows, columns], data),
    tensor(`${name}.scales`, 'F32', [rows], scales),
  ];
}

function tensor(name: string, dtype: string, shape: number[], data: ArrayBufferView): Entry {
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return { name, dtype, shape, data: bytes };
}

/** The positions that the encoder reads, with the token type that every token has added. */
function positionTable(position: Float32Array, type: Float32Array): Entry {
  const table = position
    .subarray(0, positions * dims)
    .map((value, at) => value + (type[at % dims] ?? 0));
  const name = 'embeddings.position_embeddings.weight';
  return tensor(name, 'F32', [positions, dims], table);
}

function convert(file: Uint8Array<ArrayBuffer>): Uint8Array {
  const tensors = readTensors(file);
  const read = (name: string): Float32Array => {
    const { offset, bytes } = tensors.get(name) as Tensor;
    return new Float32Array(file.slice(offset, offset + bytes).buffer);
  };
  const kept: Entry[] = [
    positionTable(
      read('embeddings.position_embeddings.weight'),
      read('embeddings.token_type_embeddings.weight'),
    ),
  ];
  for (const [name, { shape }] of [...tensors].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (!/^(encoder|embeddings\.(LayerNorm|word_embeddings))\b/.test(name)) continue;
    if (shape.length === 1) kept.push(tensor(name, 'F32', shape, read(name)));
    else kept.push(...quantizeRows(name.replace(/\.weight$/, ''), shape, read(name)));
  }
  // Tensors whose size is a multiple of 16 bytes come first, so that these are aligned.
  const odd = (entry: Entry) => (entry.data.byteLength % 16 === 0 ? 0 : 1);
  kept.sort((a, b) => odd(a) - odd(b));
  return writeTensors(kept, {
    source: 'sentence-transformers/all-MiniLM-L6-v2, quantized to int8 by row',
    license: 'Apache-2.0',
    originalSha256,
  });
}

/** Writes a safetensors file. The data begins at a multiple of 64 bytes. */
function writeTensors(
  tensors: readonly Entry[],
  metadata: Record<string, string>,
): Uint8Array<ArrayBuffer> {
  let end = 0;
  const entries = tensors.map(({ name, dtype, shape, data }) => {
    const from = end;
    end += data.byteLength;
    return [name, { dtype, shape, data_offsets: [from, end] }];
  });
  const text = JSON.stringify({ __metadata__: metadata, ...Object.fromEntries(entries) });
  const start = Math.ceil((8 + text.length) / 64) * 64;
  const file = new Uint8Array(start + end);
  new DataView(file.buffer).setBigUint64(0, BigInt(start - 8), true);
  file.set(new TextEncoder().encode(text.padEnd(start - 8)), 8);
  let at = start;
  for (const { data } of tensors) {
    file.set(data, at);
    at += data.byteLength;
  }
  return file;
}

const [folder, out] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: bun .release/weights.ts FOLDER [FILE]');
const original = new Uint8Array(readFileSync(join(folder, 'model.safetensors')));
const found = createHash('sha256').update(original).digest('hex');
if (found !== originalSha256) throw new Error(`model.safetensors has the SHA-256 ${found}`);
const path = out ?? join(root, 'server/embeddings/minilm/all-MiniLM-L6-v2.int8.safetensors');
const made = convert(original);
writeFileSync(path, made);
console.log(`${made.byteLength} bytes  sha256 ${createHash('sha256').update(made).digest('hex')}`);
console.log(path);
