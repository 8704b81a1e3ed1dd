import { bytesOf, type Column, Uint32List } from './columns.ts';

/** The approximate size of a memory's id, time and Map entry, which the columns do not include. */
const bytesPerMemory = 150;

/** The rows of a memory's chunks in the chunk table. */
export type ChunkRange = { first: number; count: number };

/** The memories of one user, by id and in order of time and id. */
export class MemoryTable {
  /**
   * Slots are numbered in order of insertion. The slot of a removed memory stays empty. Null if the
   * table was filled with stored columns, until a change needs the slots.
   */
  #slots: Map<string, number> | null = new Map();
  #emptySlots = 0;
  #ids: string[] = [];
  #times: number[] = [];
  readonly #firstChunks = new Uint32List();
  readonly #chunkCounts = new Uint32List();
  /** The slots, oldest memory first. */
  readonly #order = new Uint32List();

  get size(): number {
    return this.#ids.length - this.#emptySlots;
  }

  get emptySlots(): number {
    return this.#emptySlots;
  }

  get bytes(): number {
    const columns = [this.#firstChunks, this.#chunkCounts, this.#order];
    const perSlot = this.#ids.length * bytesPerMemory;
    return columns.reduce((sum, { bytes }) => sum + bytes, perSlot);
  }

  /** The columns of a table from which nothing has been removed. */
  columns(): Column[] {
    const ids: Column = {
      toBytes: () => Buffer.from(this.#ids.join('\n')),
      fill: (bytes) => {
        this.#ids = Buffer.from(bytes).toString().split('\n');
        this.#slots = null;
      },
    };
    const times: Column = {
      toBytes: () => bytesOf(Float64Array.from(this.#times)),
      fill: ({ buffer, byteOffset, byteLength }) => {
        const length = byteLength / Float64Array.BYTES_PER_ELEMENT;
        this.#times = [...new Float64Array(buffer, byteOffset, length)];
      },
    };
    return [ids, times, this.#firstChunks, this.#chunkCounts, this.#order];
  }

  add(id: string, createdAt: number, { first, count }: ChunkRange): void {
    const slot = this.#ids.push(id) - 1;
    this.#slotsById().set(id, slot);
    this.#times.push(createdAt);
    this.#firstChunks.push(first);
    this.#chunkCounts.push(count);
    this.#order.insert(this.#ordinalOf(slot), slot);
  }

  /** Removes a memory. Returns its chunks, or null if there is no memory with this id. */
  remove(id: string): ChunkRange | null {
    const slots = this.#slotsById();
    const slot = slots.get(id);
    if (slot === undefined) return null;
    this.#order.delete(this.#ordinalOf(slot));
    slots.delete(id);
    this.#ids[slot] = '';
    this.#emptySlots += 1;
    return this.#chunksOf(slot);
  }

  #slotsById(): Map<string, number> {
    this.#slots ??= new Map(this.#ids.map((id, slot) => [id, slot]));
    return this.#slots;
  }

  idAt(ordinal: number): string {
    return this.#ids[this.#order.at(ordinal)] ?? '';
  }

  timeAt(ordinal: number): number {
    return this.#times[this.#order.at(ordinal)] ?? 0;
  }

  chunksAt(ordinal: number): ChunkRange {
    return this.#chunksOf(this.#order.at(ordinal));
  }

  #chunksOf(slot: number): ChunkRange {
    return { first: this.#firstChunks.at(slot), count: this.#chunkCounts.at(slot) };
  }

  /** Returns the number of older memories, which is the slot's position in `#order`. */
  #ordinalOf(slot: number): number {
    let high = this.#order.length;
    // Fast path: an added memory is usually the newest.
    if (high === 0 || this.#isOlder(this.#order.at(high - 1), slot)) return high;
    for (let low = 0; low < high; ) {
      const middle = (low + high) >>> 1;
      if (this.#isOlder(this.#order.at(middle), slot)) low = middle + 1;
      else high = middle;
    }
    return high;
  }

  #isOlder(left: number, right: number): boolean {
    const difference = (this.#times[left] ?? 0) - (this.#times[right] ?? 0);
    // mutate-ignore boundary: neither ids nor differences are equal here
    return difference === 0 ? (this.#ids[left] ?? '') < (this.#ids[right] ?? '') : difference < 0;
  }
}
