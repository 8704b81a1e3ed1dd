import { limits } from '../../sdk/contract/limits.ts';
import type { ItemsJson, Page, StoredMemory } from '../storage/types/memories.ts';
import { memoriesJson } from './json.ts';

/**
 * The maximum size of a page. An import accepts a page, unless it has a single larger memory or the
 * settings lower the limit of bodies.
 */
const maxPageBytes = 4 * 1024 * 1024;

/** A full page of values of this size has fewer values than an import accepts. */
const bytesPerValue = Math.ceil(maxPageBytes / (limits.jsonValues - 1_000));

/** The JSON of a memory without its texts has at most so many bytes, and so many values. */
const otherBytes = 400;
const otherValues = 14;

/** Shorter texts are not measured: pages of them stay small, even if all characters are escaped. */
const shortUnits = 300;
const maxBytesPerUnit = 6;

/**
 * Collects a page: at most `limit` memories, fewer if they are large, but at least one if there are
 * any.
 */
export function createPage<Row extends StoredMemory>(
  limit: number,
  positionOf: (memory: Row) => string,
  toJson: (items: readonly Row[]) => ItemsJson = memoriesJson,
) {
  const items: Row[] = [];
  let total = 0;

  /** Whether a memory with so much text, in bytes, may fit on the page. */
  function hasRoom(bytes: number): boolean {
    return items.length === 0 || (items.length < limit && total + bytes <= maxPageBytes);
  }

  /** The page, if it is the last one. */
  function whole(): Page {
    return { items: toJson(items), next: null };
  }

  return {
    hasRoom,
    whole,
    /** Adds the memory and returns true, or returns false if its JSON does not fit on the page. */
    add(memory: Row): boolean {
      const bytes = sizeOf(memory);
      if (!hasRoom(bytes)) return false;
      items.push(memory);
      total += bytes;
      return true;
    },
    /** The page, if another one follows. */
    cut(): Page {
      const last = items.at(-1);
      return { ...whole(), next: last === undefined ? null : positionOf(last) };
    },
  };
}

/** Returns the size of a memory in the JSON of a page, or slightly more. */
function sizeOf({ userId, content, metadata, source, externalId }: StoredMemory): number {
  const values = metadata === '{}' ? 0 : (metadata.match(/[,[{]/g)?.length ?? 0);
  const texts = [content, metadata, userId, source ?? '', externalId ?? ''];
  const units = texts.reduce((sum, text) => sum + text.length, 0);
  const bytes =
    units <= shortUnits ? maxBytesPerUnit * units : Buffer.byteLength(JSON.stringify(texts));
  return Math.max(otherBytes + bytes, bytesPerValue * (otherValues + values));
}
