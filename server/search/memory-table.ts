import { bytesOf, type Column, Uint32List } from './columns.ts';

/** The approximate size of a memory's id, time and Map entry, which the columns do not include. */
const bytesPerMemory = 150;

/** The first chunk of an empty slot. A higher number would be no int32, and reading it slower. */
const noChunk = 2 ** 31 - 1;

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
  /** The slots of memories that were not the newest when added, until `order` is called. */
  #late: number[] = [];
  /** Whether `#order` and `#late` may contain empty slots. */
  #hasRemoved = false;

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
    const { length } = this.#order;
    const isNewest = length === 0 || this.#isOlder(this.#order.at(length - 1), slot);
    if (isNewest && !this.#hasRemoved) this.#order.push(slot);
    else this.#late.push(slot);
  }

  /** Removes a memory. Returns its chunks, or null if there is no memory with this id. */
  remove(id: string): ChunkRange | null {
    const slots = this.#slotsById();
    const slot = slots.get(id);
    if (slot === undefined) return null;
    slots.delete(id);
    const chunks = this.#chunksOf(slot);
    this.#ids[slot] = '';
    this.#firstChunks.values[slot] = noChunk;
    this.#emptySlots += 1;
    this.#hasRemoved = true;
    return chunks;
  }

  /**
   * Brings the memories in order, after any number of changes in one pass. Must be called between a
   * change and reading memories by their ordinals, or the columns.
   */
  order(): void {
    if (this.#late.length === 0 && !this.#hasRemoved) return;
    if (this.#hasRemoved) this.#dropRemoved();
    const late = this.#late.sort((a, b) => (this.#isOlder(a, b) ? -1 : 1));
    let end = this.#order.length;
    for (const slot of late) this.#order.push(slot);
    const { values } = this.#order;
    for (let slot = late.pop(); slot !== undefined; slot = late.pop()) {
      const ordinal = this.#ordinalOf(slot, end);
      values.copyWithin(ordinal + late.length + 1, ordinal, end);
      values[ordinal + late.length] = slot;
      end = ordinal;
    }
  }

  #dropRemoved(): void {
    const firstChunks = this.#firstChunks.values;
    const { length, values } = this.#order;
    let kept = 0;
    for (let at = 0; at < length; at += 1) {
      const slot = values[at] ?? 0;
      if (firstChunks[slot] !== noChunk) values[kept++] = slot;
    }
    this.#order.length = kept;
    this.#late = this.#late.filter((slot) => firstChunks[slot] !== noChunk);
    this.#hasRemoved = false;
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

  /** Returns how many of the first `end` memories in `#order` are older. */
  #ordinalOf(slot: number, end: number): number {
    let [low, high] = [0, end];
    while (low < high) {
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
