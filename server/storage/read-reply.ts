import { type FoundMemory, foundJson } from '../memory/json.ts';
import { announced, type Incoming, reportProgress } from '../threads/serve.ts';
import type { ItemsJson, Page } from './storage.ts';

/** To write a large text as UTF-8 takes long, and the HTTP thread has others to serve. */
const largeUnits = 64 * 1024;

/**
 * In UTF-16 units. Reader threads run at a low priority: on a busy machine, encoding more text than
 * this may take longer than a thread may be silent.
 */
const quietUnits = 1_000_000;

/** The items of a search result as JSON. */
export function foundItems(found: readonly FoundMemory[]): string {
  const units = found.reduce((sum, { memory }) => sum + memory.content.length, 0);
  return units < quietUnits ? foundJson(found) : announced(() => foundJson(found));
}

/** The items of a page go beside the JSON, so that they are not written as JSON twice. */
export function replyToRead(call: Incoming, value: unknown): void {
  if (typeof value !== 'object' || value === null || !('items' in value)) {
    call.reply(value);
    return;
  }
  const { items, ...rest } = value as Page;
  call.reply(rest, [encoded(items)]);
}

function encoded(items: ItemsJson): ItemsJson {
  if (typeof items !== 'string' || items.length < largeUnits) return items;
  if (items.length >= quietUnits) reportProgress();
  return new TextEncoder().encode(items);
}
