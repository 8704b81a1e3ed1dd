import type { Position, StoredMemory } from '../storage/storage.ts';

/** A larger page ends early, with a cursor: a hundred documents would be half a gigabyte. */
const pageBytes = 4 * 1024 * 1024;
/** Read at a time, for the same reason. A page of the usual size is one read. */
const stepItems = 25;

export type ReadPage = (after: Position | null, limit: number) => Promise<StoredMemory[]>;

/** As many memories as are asked for, or fewer where they are large; `next` is null at the end. */
export async function readPage(
  read: ReadPage,
  { after, limit }: { after: Position | null; limit: number },
): Promise<{ items: StoredMemory[]; next: Position | null }> {
  const items: StoredMemory[] = [];
  let bytes = 0;
  for (;;) {
    // One more than asked for tells whether this is the end.
    const wanted = Math.min(stepItems, limit + 1 - items.length);
    const found = await read(items.at(-1) ?? after, wanted);
    for (const memory of found) {
      bytes += sizeOf(memory);
      const isFull = items.length === limit || bytes > pageBytes;
      if (isFull && items.length > 0) return { items, next: items.at(-1) ?? null };
      items.push(memory);
    }
    if (found.length < wanted) return { items, next: null };
  }
}

/** About what the memory takes of a page, in bytes. As JSON a text may be several times as long. */
function sizeOf({ content, metadata }: StoredMemory): number {
  return Buffer.byteLength(JSON.stringify(content)) + Buffer.byteLength(metadata) + 500;
}
