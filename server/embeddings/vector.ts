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

export type VectorScan = ReturnType<typeof createVectorScan>;

/**
 * Compares a vector with many: the scan of all vectors that a search needs. `module` is the content
 * of kernel.wasm. `dims` is a multiple of 8.
 */
export function createVectorScan(module: Uint8Array<ArrayBuffer>, dims: number) {
  const sizes = [dims * 4, dims * 2, 16, blockRows * dims, ...Array(3).fill(blockRows * 4)];
  const kernel = new Kernel(
    module,
    sizes.reduce((sum, size) => sum + size, 0),
  );
  const query = kernel.reserve(dims * 4);
  const quantized = kernel.reserve(dims * 2);
  const queryScale = kernel.reserve(16);
  const vectors = kernel.reserve(blockRows * dims);
  const vectorScales = kernel.reserve(blockRows * 4);
  const zeros = kernel.reserve(blockRows * 4);
  const out = kernel.reserve(blockRows * 4);
  return {
    dotProducts(vector: Float32Array, blocks: readonly StoredVectors[]): Float32Array<ArrayBuffer> {
      kernel.floats(query, dims).set(vector);
      kernel.run.quantize(query, quantized, queryScale, 1, dims);
      const products = new Float32Array(blocks.reduce((sum, { count }) => sum + count, 0));
      let done = 0;
      for (const { scales, data, count } of blocks) {
        for (let from = 0; from < count; from += blockRows) {
          const rows = Math.min(blockRows, count - from);
          kernel.floats(vectorScales, rows).set(scales.subarray(from, from + rows));
          kernel.int8s(vectors, rows * dims).set(data.subarray(from * dims, (from + rows) * dims));
          // The kernel takes vectors in fours; what it returns after the last is not read.
          const columns = Math.ceil(rows / 4) * 4;
          const given = [quantized, queryScale, vectors, vectorScales, zeros, out];
          kernel.run.multiply(...given, 1, dims, columns);
          products.set(kernel.floats(out, rows), done);
          done += rows;
        }
      }
      return products;
    },
  };
}
