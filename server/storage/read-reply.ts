import { type FoundMemory, foundJson } from '../memory/json.ts';
import { announced } from '../threads/serve.ts';
import type { ItemsJson } from './storage.ts';

/**
 * The maximum amount of text, in UTF-16 units, to encode without a progress report. Reader threads
 * have a low priority, so encoding more could exceed the watchdog's limit.
 */
const quietUnits = 1_000_000;

export function foundItems(found: readonly FoundMemory[]): ItemsJson {
  const units = found.reduce((sum, { memory }) => sum + memory.content.length, 0);
  return units < quietUnits ? foundJson(found) : announced(() => foundJson(found));
}
