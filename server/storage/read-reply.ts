import type { Incoming } from '../threads/serve.ts';
import type { ItemsJson, Page } from './storage.ts';

/** To write a large text as UTF-8 takes long, and the HTTP thread has others to serve. */
const largeUnits = 64 * 1024;

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
  return new TextEncoder().encode(items);
}
