import { Kernel } from './kernel.ts';

const largestInt8 = 127;
/** The number of vectors that are compared in one call of the kernel, a multiple of 4. */
const blockRows = 1_024;

/** The size of a stored vector: a little-endian float32 scale, then one int8 for each dimension. */
export function vectorBytes(dims: number): number {
  return 4 + dims;
}

/** Converts a vector to its stored form; value ≈ int8 * scale. */
export function packVector(vector: Float32Array): Uint8Array<ArrayBuffer> {
  const packed = new Uint8Array(vectorBytes(vector.length));
  const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const scale = Math.fround(largest / largestInt8);
  if (scale === 0) return packed;
  new DataView(packed.buffer).setFloat32(0, scale, true);
  new Int8Array(packed.buffer, 4).set(vector.map((value) => Math.round(value / scale)));
  return packed;
}

/** The first `count` vectors of a block: `data` holds `dims` int8 for each entry of `scales`. */
export type StoredVectors = { scales: Float32Array; data: Int8Array; count: number };

/** Compares a vector with many: the scan of all vectors that a search needs. */
export class VectorScan {
  readonly #dims: number;
  readonly #kernel: Kernel;
  readonly #query: number;
  readonly #quantized: number;
  readonly #queryScale: number;
  readonly #rows: number;
  readonly #scales: number;
  readonly #zeros: number;
  readonly #out: number;

  /** `module` is the content of kernel.wasm. `dims` is a multiple of 8. */
  constructor(module: Uint8Array<ArrayBuffer>, dims: number) {
    this.#dims = dims;
    const sizes = [dims * 4, dims * 2, 16, blockRows * dims, ...Array(3).fill(blockRows * 4)];
    this.#kernel = new Kernel(
      module,
      sizes.reduce((sum, size) => sum + size, 0),
    );
    this.#query = this.#kernel.reserve(dims * 4);
    this.#quantized = this.#kernel.reserve(dims * 2);
    this.#queryScale = this.#kernel.reserve(16);
    this.#rows = this.#kernel.reserve(blockRows * dims);
    this.#scales = this.#kernel.reserve(blockRows * 4);
    this.#zeros = this.#kernel.reserve(blockRows * 4);
    this.#out = this.#kernel.reserve(blockRows * 4);
  }

  /** Returns the dot product of `query` with each of the vectors. */
  dotProducts(query: Float32Array, blocks: readonly StoredVectors[]): Float32Array<ArrayBuffer> {
    const kernel = this.#kernel;
    const dims = this.#dims;
    kernel.floats(this.#query, dims).set(query);
    kernel.run.quantize(this.#query, this.#quantized, this.#queryScale, 1, dims);
    const products = new Float32Array(blocks.reduce((sum, { count }) => sum + count, 0));
    let done = 0;
    for (const block of blocks) {
      for (let from = 0; from < block.count; from += blockRows) {
        const rows = Math.min(blockRows, block.count - from);
        this.#load(block, from, rows);
        this.#multiply(Math.ceil(rows / 4) * 4);
        products.set(kernel.floats(this.#out, rows), done);
        done += rows;
      }
    }
    return products;
  }

  #load({ scales, data }: StoredVectors, from: number, rows: number): void {
    const dims = this.#dims;
    const values = data.subarray(from * dims, (from + rows) * dims);
    this.#kernel.floats(this.#scales, rows).set(scales.subarray(from, from + rows));
    this.#kernel.int8s(this.#rows, rows * dims).set(values);
  }

  /** The kernel takes vectors in fours; what it returns for those after the last is not read. */
  #multiply(rows: number): void {
    this.#kernel.run.multiply(
      this.#quantized,
      this.#queryScale,
      this.#rows,
      this.#scales,
      this.#zeros,
      this.#out,
      1,
      this.#dims,
      rows,
    );
  }
}
