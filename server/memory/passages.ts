// Temporary: the old names for what storage and HTTP still call. Use chunks.ts.
import type { Passage } from '../storage/storage.ts';
import { indexedChunks, splitChunks } from './chunks.ts';

export type Slice = Pick<Passage, 'start' | 'length'>;

export function indexPassages(content: string, metadata: string): Passage[] {
  return indexedChunks(content, metadata, splitChunks(content)).map(({ text, ...slice }) => {
    return { ...slice, folded: text };
  });
}

export const indexInTurns = indexPassages;

export function splitPassages(text: string): Slice[] {
  let start = 0;
  return splitChunks(text).map((length) => {
    start += length;
    return { start: start - length, length };
  });
}
