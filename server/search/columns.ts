/** One column of an index, in the form in which an index is stored. */
export type Column = {
  toBytes(): Uint8Array;
  /** Frees the column, and copies stored bytes, which begin at a multiple of eight in a buffer. */
  fill(bytes: Uint8Array): void;
};

const alignment = 8;
const aligned = (length: number) => Math.ceil(length / alignment) * alignment;

/** Joins columns, after a header with `first` and the length of each column in bytes. */
export function joinColumns(first: number, columns: readonly Uint8Array[]): Uint8Array {
  const lengths = columns.map(({ length }) => length);
  const parts = [bytesOf(Uint32Array.of(first, columns.length, ...lengths)), ...columns];
  const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + aligned(length), 0));
  let end = 0;
  for (const part of parts) {
    joined.set(part, end);
    end += aligned(part.length);
  }
  return joined;
}

/** Returns what `joinColumns` was given. Each column begins at a multiple of eight. */
export function splitColumns(joined: Uint8Array): { first: number; columns: Uint8Array[] } {
  const bytes = joined.byteOffset % alignment === 0 ? joined : new Uint8Array(joined);
  const { buffer, byteOffset } = bytes;
  const [first = 0, count = 0] = new Uint32Array(buffer, byteOffset, 2);
  const header = new Uint32Array(buffer, byteOffset, 2 + count);
  let start = aligned(header.byteLength);
  const columns = [...header.subarray(2)].map((length) => {
    const column = bytes.subarray(start, start + length);
    start += aligned(length);
    return column;
  });
  return { first, columns };
}

export function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** A restored column has this share more room, so that the next save does not double it. */
const spareShare = 1 / 16;

/** Copies the bytes to a new buffer with some room behind them. */
export function withRoom(bytes: Uint8Array): ArrayBuffer {
  const buffer = new ArrayBuffer(aligned(bytes.length * (1 + spareShare)));
  new Uint8Array(buffer).set(bytes);
  return buffer;
}

const minLength = 16;

/** A Uint32Array that grows. Hot loops read `values` directly. */
export class Uint32List implements Column {
  values = new Uint32Array(minLength);
  length = 0;

  get bytes(): number {
    return this.values.byteLength;
  }

  at(index: number): number {
    return this.values[index] ?? 0;
  }

  push(value: number): void {
    if (this.length === this.values.length) this.#grow();
    this.values[this.length++] = value;
  }

  toBytes(): Uint8Array {
    return bytesOf(this.values.subarray(0, this.length));
  }

  fill(bytes: Uint8Array): void {
    this.values.buffer.transfer(0);
    this.length = bytes.length / Uint32Array.BYTES_PER_ELEMENT;
    this.values = new Uint32Array(withRoom(bytes));
  }

  #grow(): void {
    const values = new Uint32Array(Math.max(minLength, this.length * 2));
    values.set(this.values);
    this.values = values;
  }
}
