/** A memory's vectors, and the change of the memory for which they were made. */
type Entry = { first: number; count: number; change: number };

/** The approximate size of a Map entry in bytes. */
const bytesPerEntry = 120;

/**
 * The vectors of one model, by memory. Vector i of a memory belongs to its chunk i. A vector whose
 * scale is 0 stands for a chunk without a vector.
 */
export class VectorTable {
  readonly dims: number;
  /** Changes with every change of the table. */
  version = 0;
  #entries = new Map<string, Entry>();
  #rows = 0;
  #liveRows = 0;
  #scales = new Float32Array(16);
  #data: Int8Array<ArrayBuffer>;

  constructor(dims: number) {
    this.dims = dims;
    this.#data = new Int8Array(16 * dims);
  }

  /** The number of memories that have an entry, even one without vectors. */
  get size(): number {
    return this.#entries.size;
  }

  get bytes(): number {
    const columns = this.#scales.byteLength + this.#data.byteLength;
    return columns + this.#entries.size * bytesPerEntry;
  }

  /** All vectors in use: those of removed memories are among them. */
  get table(): { scales: Float32Array; data: Int8Array; count: number } {
    return { scales: this.#scales, data: this.#data, count: this.#rows };
  }

  /** Returns the row of the vector of the memory's chunk, or -1. */
  rowOf(id: string, chunk: number): number {
    const entry = this.#entries.get(id);
    if (entry === undefined || chunk >= entry.count) return -1;
    const row = entry.first + chunk;
    return this.#scales[row] === 0 ? -1 : row;
  }

  /** Adds a memory's vectors as stored: for each, a float32 scale and an int8 per dimension. */
  put(id: string, change: number, stored: Uint8Array): void {
    this.remove(id);
    this.version += 1;
    const size = 4 + this.dims;
    const count = Math.floor(stored.byteLength / size);
    this.#reserve(this.#rows + count);
    const view = new DataView(stored.buffer, stored.byteOffset, stored.byteLength);
    for (let at = 0; at < count; at += 1) {
      const row = this.#rows + at;
      this.#scales[row] = view.getFloat32(at * size, true);
      const values = stored.subarray(at * size + 4, (at + 1) * size);
      this.#data.set(new Int8Array(values.buffer, values.byteOffset, this.dims), row * this.dims);
    }
    this.#entries.set(id, { first: this.#rows, count, change });
    this.#rows += count;
    this.#liveRows += count;
  }

  /** Removes the vectors of a memory, unless they were made for this change of it. */
  removeOlder(id: string, change: number): void {
    if (this.#entries.get(id)?.change !== change) this.remove(id);
  }

  remove(id: string): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    this.#entries.delete(id);
    this.version += 1;
    this.#liveRows -= entry.count;
    if (this.#rows > 1_024 && this.#rows > 2 * this.#liveRows) this.#compact();
  }

  #reserve(rows: number): void {
    const capacity = this.#scales.length;
    if (rows <= capacity) return;
    const wanted = Math.max(rows, capacity * 2);
    this.#scales = new Float32Array(this.#scales.buffer.transfer(wanted * 4));
    this.#data = new Int8Array(this.#data.buffer.transfer(wanted * this.dims));
  }

  #compact(): void {
    const [scales, data] = [this.#scales, this.#data];
    const entries = this.#entries;
    this.#entries = new Map();
    this.#rows = 0;
    this.#liveRows = 0;
    this.#scales = new Float32Array(16);
    this.#data = new Int8Array(16 * this.dims);
    for (const [id, { first, count, change }] of entries) {
      this.#reserve(this.#rows + count);
      this.#scales.set(scales.subarray(first, first + count), this.#rows);
      const values = data.subarray(first * this.dims, (first + count) * this.dims);
      this.#data.set(values, this.#rows * this.dims);
      this.#entries.set(id, { first: this.#rows, count, change });
      this.#rows += count;
      this.#liveRows += count;
    }
  }
}
