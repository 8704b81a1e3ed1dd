import { bytesOf, joinColumns, splitColumns } from './columns.ts';

/** Rows of vectors: for each entry of `scales`, `dims` int8 of `data`. */
type VectorBlock = {
  /** The number of rows in earlier blocks. */
  first: number;
  /** The number of rows in use. */
  count: number;
  scales: Float32Array;
  data: Int8Array;
};

/** A memory's vectors in a block, and the change of the memory for which they were made. */
type Entry = { id: string; block: VectorBlock; first: number; count: number; change: number };

/** The approximate size of an entry, with its id, in bytes. */
const bytesPerEntry = 120;
/** A block for new vectors has as many rows as there are already, within these limits. */
const minRows = 16;
const maxRows = 512;
/** The table is compacted when it has more rows or slots than this, most of which are not used. */
const minRemoved = 1_024; // mutate-ignore constant: affects only cost

/**
 * The vectors of one model, by memory. Vector i of a memory belongs to its chunk i. A vector whose
 * scale is 0 stands for a chunk without a vector.
 */
export class VectorTable {
  /** Changes with every change of the table. */
  version = 0;
  /** Entries in order of insertion. The slot of a removed entry stays empty. */
  #entries: (Entry | null)[] = [];
  /** Null if stored columns were added, until a change needs the slots. */
  #slots: Map<string, number> | null = new Map();
  /** The slot that was found last. Memories are mostly looked up in the order of the slots. */
  #last = 0;
  #size = 0;
  #blocks: VectorBlock[] = [];
  #rows = 0;
  #liveRows = 0;

  constructor(readonly dims: number) {}

  /** The number of memories that have an entry, even one without vectors. */
  get size(): number {
    return this.#size;
  }

  get bytes(): number {
    const sizes = this.#blocks.map(({ scales, data }) => scales.byteLength + data.byteLength);
    return sizes.reduce((sum, size) => sum + size, this.#entries.length * bytesPerEntry);
  }

  /** All vectors, those of removed memories among them. */
  get blocks(): readonly VectorBlock[] {
    return this.#blocks;
  }

  /** Returns the row of the vector of the memory's chunk, or -1. */
  rowOf(id: string, chunk: number): number {
    const entry = this.#find(id);
    if (entry === null || chunk >= entry.count) return -1;
    const { block, first } = entry;
    return block.scales[first + chunk] === 0 ? -1 : block.first + first + chunk;
  }

  /** Returns the cosine of the vectors in two rows. */
  cosine(left: number, right: number): number {
    const [one, other] = [this.#at(left), this.#at(right)];
    let product = 0;
    for (let at = 0; at < this.dims; at += 1)
      product += (one.data[at] ?? 0) * (other.data[at] ?? 0);
    return product * one.scale * other.scale;
  }

  #at(row: number): { scale: number; data: Int8Array } {
    const block = this.#blocks.findLast(({ first }) => first <= row);
    if (block === undefined) throw new RangeError(`no row ${row}`);
    const at = row - block.first;
    const data = block.data.subarray(at * this.dims, (at + 1) * this.dims);
    return { scale: block.scales[at] ?? 0, data };
  }

  /** Adds a memory's vectors as stored: for each, a float32 scale and an int8 per dimension. */
  put(id: string, change: number, stored: Uint8Array): void {
    this.remove(id);
    const size = 4 + this.dims;
    const count = Math.floor(stored.byteLength / size);
    const block = this.#blockFor(count);
    const view = new DataView(stored.buffer, stored.byteOffset, stored.byteLength);
    for (let at = 0; at < count; at += 1) {
      const row = block.count + at;
      block.scales[row] = view.getFloat32(at * size, true);
      const values = stored.subarray(at * size + 4, (at + 1) * size);
      block.data.set(new Int8Array(values.buffer, values.byteOffset, this.dims), row * this.dims);
    }
    this.#add({ id, block, first: block.count, count, change });
    block.count += count;
  }

  /** Returns the vectors of these memories as columns, for `putColumns`. */
  toColumns(ids: Iterable<string>): Uint8Array {
    const found = [...ids].map((id) => this.#find(id)).filter((entry) => entry !== null);
    const rows = found.reduce((sum, { count }) => sum + count, 0);
    const scales = new Float32Array(rows);
    const data = new Int8Array(rows * this.dims);
    let row = 0;
    for (const { block, first, count } of found) {
      const end = first + count;
      scales.set(block.scales.subarray(first, end), row);
      data.set(block.data.subarray(first * this.dims, end * this.dims), row * this.dims);
      row += count;
    }
    const changes = Float64Array.from(found, ({ change }) => change);
    const counts = Uint32Array.from(found, ({ count }) => count);
    const names = Buffer.from(found.map(({ id }) => id).join('\n'));
    return joinColumns(this.dims, [names, ...[changes, counts, scales, data].map(bytesOf)]);
  }

  /** Adds the vectors of one or more memories that are not in the table, and keeps the bytes. */
  putColumns(joined: Uint8Array): void {
    const [names, changes, counts, scales, data] = splitColumns(joined).columns;
    if (!(names && changes && counts && scales && data)) return;
    const block = {
      first: this.#rows,
      count: scales.length / 4,
      scales: new Float32Array(scales.buffer, scales.byteOffset, scales.length / 4),
      data: new Int8Array(data.buffer, data.byteOffset, data.length),
    };
    this.#blocks.push(block);
    const changeOf = new Float64Array(changes.buffer, changes.byteOffset, changes.length / 8);
    const countOf = new Uint32Array(counts.buffer, counts.byteOffset, counts.length / 4);
    const ids = Buffer.from(names.buffer, names.byteOffset, names.length).toString().split('\n');
    if (this.#slots?.size === 0) this.#slots = null;
    let first = 0;
    for (let at = 0; at < ids.length; at += 1) {
      const count = countOf[at] ?? 0;
      this.#add({ id: ids[at] ?? '', block, first, count, change: changeOf[at] ?? 0 });
      first += count;
    }
  }

  /** Removes the vectors of a memory, unless they were made for this change of it. */
  removeOlder(id: string, change: number): void {
    if (this.#find(id)?.change !== change) this.remove(id);
  }

  remove(id: string): void {
    const slots = this.#slotsById();
    const slot = slots.get(id);
    if (slot === undefined) return;
    this.#liveRows -= this.#entries[slot]?.count ?? 0;
    this.#size -= 1;
    this.#entries[slot] = null;
    slots.delete(id);
    this.version += 1;
    if (isMostlyRemoved(this.#rows, this.#liveRows)) this.#compact();
    else if (isMostlyRemoved(this.#entries.length, this.#size)) this.#compact();
  }

  #add(entry: Entry): void {
    const slot = this.#entries.push(entry) - 1;
    this.#slots?.set(entry.id, slot);
    this.#size += 1;
    this.#rows += entry.count;
    this.#liveRows += entry.count;
    this.version += 1;
  }

  #find(id: string): Entry | null {
    const last = this.#entries[this.#last];
    if (last?.id === id) return last;
    const next = this.#entries[this.#last + 1];
    const slot = next?.id === id ? this.#last + 1 : this.#slotsById().get(id);
    if (slot === undefined) return null;
    this.#last = slot;
    return this.#entries[slot] ?? null;
  }

  #slotsById(): Map<string, number> {
    if (this.#slots !== null) return this.#slots;
    this.#slots = new Map();
    for (const [slot, entry] of this.#entries.entries()) {
      if (entry !== null) this.#slots.set(entry.id, slot);
    }
    return this.#slots;
  }

  /** Returns a block with room for so many rows. */
  #blockFor(count: number): VectorBlock {
    const last = this.#blocks.at(-1);
    if (last !== undefined && last.count + count <= last.scales.length) return last;
    const rows = Math.max(count, Math.min(maxRows, Math.max(minRows, this.#rows)));
    const [scales, data] = [new Float32Array(rows), new Int8Array(rows * this.dims)];
    const block = { first: this.#rows, count: 0, scales, data };
    this.#blocks.push(block);
    return block;
  }

  #compact(): void {
    const live = this.#entries.filter((entry) => entry !== null);
    const joined = this.toColumns(live.map(({ id }) => id));
    this.#entries = [];
    this.#slots = new Map();
    this.#size = 0;
    this.#blocks = [];
    this.#rows = 0;
    this.#liveRows = 0;
    if (live.length > 0) this.putColumns(joined);
  }
}

function isMostlyRemoved(all: number, live: number): boolean {
  return all > minRemoved && all > 2 * live;
}
