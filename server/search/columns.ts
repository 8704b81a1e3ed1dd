/** One column of an index, in the form in which an index is stored. */
export type Column = {
  toBytes(): Uint8Array;
  /** Takes over stored bytes. They begin at a multiple of eight in their buffer. */
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

const minLength = 16;

/** A Uint32Array that grows. Hot loops read `values` directly. */
export class Uint32List implements Column {
  values: Uint32Array = new Uint32Array(minLength);
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

  fill({ buffer, byteOffset, byteLength }: Uint8Array): void {
    this.length = byteLength / Uint32Array.BYTES_PER_ELEMENT;
    this.values = new Uint32Array(buffer, byteOffset, this.length);
  }

  #grow(): void {
    const values = new Uint32Array(Math.max(minLength, this.length * 2));
    values.set(this.values);
    this.values = values;
  }
}
