/** One column of an index, in the form in which an index is stored. */
export type Column = {
  toBytes(): Uint8Array;
  /** Takes over stored bytes. They begin at a multiple of eight in their buffer. */
  fill(bytes: Uint8Array): void;
};

const alignment = 8;
const aligned = (length: number) => Math.ceil(length / alignment) * alignment;

/** Joins the columns, after a header with `first` and the length of each column in bytes. */
export function joinColumns(first: number, columns: readonly Column[]): Uint8Array {
  const values = columns.map((column) => column.toBytes());
  const header = Uint32Array.from([first, ...values.map(({ length }) => length)]);
  const parts = [bytesOf(header), ...values];
  const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + aligned(length), 0));
  let end = 0;
  for (const part of parts) {
    joined.set(part, end);
    end += aligned(part.length);
  }
  return joined;
}

/** Fills the columns that `create` returns when it is given the first number of the header. */
export function splitColumns(
  joined: Uint8Array,
  create: (first: number) => readonly Column[],
): void {
  const bytes = joined.byteOffset % alignment === 0 ? joined : new Uint8Array(joined);
  const { buffer, byteOffset } = bytes;
  const [first = 0] = new Uint32Array(buffer, byteOffset, 1);
  const columns = create(first);
  const lengths = new Uint32Array(buffer, byteOffset + 4, columns.length);
  let start = aligned(4 + lengths.byteLength);
  for (const [index, column] of columns.entries()) {
    const length = lengths[index] ?? 0;
    column.fill(bytes.subarray(start, start + length));
    start += aligned(length);
  }
}

export function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
