import type { Page, StoredMemory } from '../storage/storage.ts';
import { memoriesJson } from './json.ts';

/** Of text in a page. What is longer comes with a cursor: a hundred documents would be half a
 * gigabyte. */
const maxPageBytes = 4 * 1024 * 1024;

/** Shorter texts are not measured: a page of them stays small whatever they become as JSON. */
const shortLength = 4_096;

/**
 * The next page of `rows`: as many memories as are asked for, or fewer where they are large; at
 * least one where there is one. Takes one row more than it shows to know whether this is the end.
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

/** About what the memory takes of a page. As JSON a text may be several times as long. */
function sizeOf({ content, metadata }: StoredMemory): number {
  const length = content.length + metadata.length;
  return length <= shortLength ? length : Buffer.byteLength(JSON.stringify(content));
}
