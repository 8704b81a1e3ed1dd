import { bytesOf, joinColumns, splitColumns } from './columns.ts';

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
    const size = 4 + this.dims;
    const count = Math.floor(stored.byteLength / size);
    const view = new DataView(stored.buffer, stored.byteOffset, stored.byteLength);
    const first = this.#add(id, change, count);
    for (let at = 0; at < count; at += 1) {
      const row = first + at;
      this.#scales[row] = view.getFloat32(at * size, true);
      const values = stored.subarray(at * size + 4, (at + 1) * size);
      this.#data.set(new Int8Array(values.buffer, values.byteOffset, this.dims), row * this.dims);
    }
  }

  /** Returns the vectors of these memories as columns, for `putColumns`. */
  toColumns(ids: readonly string[]): Uint8Array {
    const part = this.#copy(ids);
    const entries = [...part.#entries.values()];
    return joinColumns(this.dims, [
      Buffer.from([...part.#entries.keys()].join('\n')),
      bytesOf(Float64Array.from(entries, ({ change }) => change)),
      bytesOf(Uint32Array.from(entries, ({ count }) => count)),
      bytesOf(part.#scales.subarray(0, part.#rows)),
      bytesOf(part.#data.subarray(0, part.#rows * this.dims)),
    ]);
  }

  /** Adds the vectors of many memories, which `toColumns` has returned. */
  putColumns(joined: Uint8Array): void {
    const { columns } = splitColumns(joined);
    const [ids, changes, counts, scales, data] = columns;
    if (!(ids && changes && counts && scales && data)) return;
    const names = Buffer.from(ids).toString().split('\n');
    // Removing vectors may move the others.
    for (const id of names) this.remove(id);
    const begin = this.#rows;
    const changeOf = new Float64Array(changes.buffer, changes.byteOffset, changes.byteLength / 8);
    const countOf = new Uint32Array(counts.buffer, counts.byteOffset, counts.byteLength / 4);
    for (const [at, id] of names.entries()) {
      this.#add(id, changeOf[at] ?? 0, countOf[at] ?? 0);
    }
    bytesOf(this.#scales).set(scales, begin * 4);
    bytesOf(this.#data).set(data, begin * this.dims);
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

  /** Adds rows for a memory's vectors, instead of those it has. Returns the first one. */
  #add(id: string, change: number, count: number): number {
    this.remove(id);
    this.version += 1;
    const first = this.#rows;
    this.#reserve(first + count);
    this.#entries.set(id, { first, count, change });
    this.#rows += count;
    this.#liveRows += count;
    return first;
  }

  #reserve(rows: number): void {
    const capacity = this.#scales.length;
    if (rows <= capacity) return;
    const wanted = Math.max(rows, capacity * 2);
    this.#scales = new Float32Array(this.#scales.buffer.transfer(wanted * 4));
    this.#data = new Int8Array(this.#data.buffer.transfer(wanted * this.dims));
  }

  #copy(ids: Iterable<string>): VectorTable {
    const copy = new VectorTable(this.dims);
    for (const id of ids) {
      const entry = this.#entries.get(id);
      if (entry === undefined) continue;
      const { first, count, change } = entry;
      const row = copy.#add(id, change, count);
      copy.#scales.set(this.#scales.subarray(first, first + count), row);
      const values = this.#data.subarray(first * this.dims, (first + count) * this.dims);
      copy.#data.set(values, row * this.dims);
    }
    return copy;
  }

  #compact(): void {
    const copy = this.#copy(this.#entries.keys());
    this.#entries = copy.#entries;
    this.#rows = copy.#rows;
    this.#liveRows = copy.#liveRows;
    this.#scales = copy.#scales;
    this.#data = copy.#data;
  }
}
