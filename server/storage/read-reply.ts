import { type FoundMemory, foundJson } from '../memory/json.ts';
import { announced, type Incoming } from '../threads/serve.ts';
import type { ItemsJson, Page } from './storage.ts';

/**
 * The maximum amount of text, in UTF-16 units, to encode without a progress report. Reader threads
 * have a low priority, so encoding more could exceed the watchdog's limit.
 */
const quietUnits = 1_000_000;

export function foundItems(found: readonly FoundMemory[]): ItemsJson {
  const units = found.reduce((sum, { memory }) => sum + memory.content.length, 0);
  return units < quietUnits ? foundJson(found) : announced(() => foundJson(found));
}

/** Sends a page's items separately, so that they are not encoded as JSON twice. */
export function replyToRead(call: Incoming, value: unknown): void {
  if (typeof value !== 'object' || value === null || !('items' in value)) {
    call.reply(value);
    return;
  }
  const { items, ...rest } = value as Page;
  call.reply(rest, items);
}
