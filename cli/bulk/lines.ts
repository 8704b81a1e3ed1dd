/** A line of a file: its number, counted from 1, and the byte offset of its end. */
export type Line = { number: number; end: number; bytes: Uint8Array; tooLong: boolean };

/** The maximum line length, above any body limit. Longer lines are never held in memory. */
const maxLineBytes = 32 * 1024 * 1024;
const newline = 10;

/**
 * Splits bytes into lines, one at a time, so that the memory use does not depend on the file size.
 * Skips blank lines.
 */
export async function* readLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<Line> {
  let number = 0;
  let offset = 0;
  let pieces: Uint8Array[] = [];
  let size = 0;
  const hold = (piece: Uint8Array) => {
    size += piece.length;
    if (size <= maxLineBytes) pieces.push(piece);
    else pieces = [];
  };
  const take = (end: number): Line => {
    const tooLong = size > maxLineBytes;
    const [only = new Uint8Array()] = pieces;
    const bytes = pieces.length <= 1 ? only : Buffer.concat(pieces);
    pieces = [];
    size = 0;
    number += 1;
    return { number, end, bytes, tooLong };
  };
  for await (const chunk of source) {
    let start = 0;
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, start)) {
      hold(chunk.subarray(start, at));
      start = at + 1;
      const line = take(offset + start);
      if (!isBlank(line)) yield line;
    }
    hold(chunk.subarray(start));
    offset += chunk.length;
  }
  const last = take(offset);
  if (!isBlank(last)) yield last;
}

function isBlank({ bytes, tooLong }: Line): boolean {
  return !tooLong && bytes.every((byte) => byte === 32 || byte === 9 || byte === 13);
}
