import type { ItemsJson, Page, StoredMemory } from '../storage/storage.ts';
import { memoriesJson } from './json.ts';

/**
 * The maximum size of a page. Without a limit, a hundred documents could exceed half a gigabyte.
 */
const maxPageBytes = 4 * 1024 * 1024;

/** Shorter text is not measured as JSON: even if every character is escaped, a page stays small. */
const shortLength = 4_096;

/**
 * Collects a page: at most `limit` memories, fewer if they are large, but at least one if there are
 * any.
 */
export class PageBuilder<Row extends StoredMemory> {
  readonly #items: Row[] = [];
  readonly #limit: number;
  readonly #positionOf: (memory: Row) => string;
  readonly #toJson: (items: readonly Row[]) => ItemsJson;
  #bytes = 0;

  constructor(
    limit: number,
    positionOf: (memory: Row) => string,
    toJson: (items: readonly Row[]) => ItemsJson = memoriesJson,
  ) {
    this.#limit = limit;
    this.#positionOf = positionOf;
    this.#toJson = toJson;
  }

  /** Whether a memory with so much text, in bytes, may fit on the page. */
  hasRoom(bytes: number): boolean {
    const count = this.#items.length;
    return count === 0 || (count < this.#limit && this.#bytes + bytes <= maxPageBytes);
  }

  /** Adds the memory and returns true, or returns false if its JSON does not fit on the page. */
  add(memory: Row): boolean {
    const bytes = sizeOf(memory);
    if (!this.hasRoom(bytes)) return false;
    this.#items.push(memory);
    this.#bytes += bytes;
    return true;
  }

  /** The page, if another one follows. */
  cut(): Page {
    const last = this.#items.at(-1);
    return { ...this.whole(), next: last === undefined ? null : this.#positionOf(last) };
  }

  /** The page, if it is the last one. */
  whole(): Page {
    return { items: this.#toJson(this.#items), next: null };
  }
}

/** Returns a page of users. If `rows` has more than `limit` rows, another page follows. */
export function usersPage<User extends { userId: string }>(rows: readonly User[], limit: number) {
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
