import type { Page, StoredMemory } from '../storage/storage.ts';
import { memoriesJson } from './json.ts';

/** The limit for the text of a page; the rest follows on the next page. A page of a hundred
 * documents could otherwise be half a gigabyte. */
const maxPageBytes = 4 * 1024 * 1024;

/** Shorter texts are not measured: a page of them is small, even with every character escaped. */
const shortLength = 4_096;

/**
 * Takes the next page of `rows`: at most `limit` memories, fewer if they are large, but at least
 * one if there is one. Reads one row more than it returns, to know whether this is the end.
 */
export function takePage(
  rows: Iterable<StoredMemory>,
  limit: number,
  positionOf: (memory: StoredMemory) => string,
): Page {
  const items: StoredMemory[] = [];
  let bytes = 0;
  for (const memory of rows) {
    bytes += sizeOf(memory);
    const last = items.at(-1);
    if (last !== undefined && (items.length === limit || bytes > maxPageBytes)) {
      return { items: memoriesJson(items), next: positionOf(last) };
    }
    items.push(memory);
  }
  return { items: memoriesJson(items), next: null };
}

/** The approximate size of a memory in a page. As JSON a text may be several times as long. */
function sizeOf({ content, metadata }: StoredMemory): number {
  const length = content.length + metadata.length;
  return length <= shortLength ? length : Buffer.byteLength(JSON.stringify(content));
}
