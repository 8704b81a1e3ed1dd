import type { UserPage, UserRow } from '../storage/project-storage.ts';
import type { ItemsJson, Page, StoredMemory } from '../storage/storage.ts';
import { memoriesJson } from './json.ts';

/**
 * The maximum size of a page. Without a limit, a hundred documents could exceed half a gigabyte.
 */
const maxPageBytes = 4 * 1024 * 1024;

/** Shorter text is not measured as JSON: even if every character is escaped, a page stays small. */
const shortLength = 4_096;

/**
 * Returns the next page of `rows`: at most `limit` memories, fewer if they are large, but at least
 * one if there are any. Reads one row more than it returns, to detect the last page.
 */
export function takePage<Row extends StoredMemory>(
  rows: Iterable<Row>,
  limit: number,
  positionOf: (memory: Row) => string,
  toJson: (items: readonly Row[]) => ItemsJson = memoriesJson,
): Page {
  const items: Row[] = [];
  let bytes = 0;
  for (const memory of rows) {
    bytes += sizeOf(memory);
    const last = items.at(-1);
    if (last !== undefined && (items.length === limit || bytes > maxPageBytes)) {
      return { items: toJson(items), next: positionOf(last) };
    }
    items.push(memory);
  }
  return { items: toJson(items), next: null };
}

/** Returns a page of users. If `rows` has more than `limit` rows, another page follows. */
export function usersPage(rows: readonly UserRow[], limit: number): UserPage {
  const users = rows.slice(0, limit);
  const last = rows.length > limit ? users.at(-1) : undefined;
  return { users, next: last?.userId ?? null };
}

/**
 * Returns a memory's approximate size in a page. Escaping can make the JSON several times as long
 * as the text.
 */
function sizeOf({ content, metadata }: StoredMemory): number {
  const length = content.length + metadata.length;
  return length <= shortLength ? length : Buffer.byteLength(JSON.stringify(content));
}
