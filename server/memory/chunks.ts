import type { IndexedChunk } from '../search/index.ts';
import { normalize } from '../search/normalize.ts';

/**
 * About the length of a long paragraph: long enough to make sense on its own, and short enough for
 * a precise hit.
 */
const targetLength = 1_000;

/** The author is indexed with each chunk. A longer value is ignored, because it is not a name. */
const maxAuthorLength = 200;

/** Places to cut, best first. The cut is at the end of the match. */
const boundaries = [/\n\s*\n/g, /\n/g, /[.!?。！？]["')\]]?\s|[。！？]/g, /\s/g];

/**
 * Cuts text into chunks of at most `targetLength` UTF-16 units and returns their lengths. Prefers
 * to cut after a paragraph that ends in the second half of the chunk, else after a line, a sentence
 * or a word. Never splits a surrogate pair. Takes linear time.
 */
export function splitChunks(content: string): number[] {
  const lengths: number[] = [];
  for (let start = 0; start < content.length; ) {
    const end = cutAfter(content, start);
    lengths.push(end - start);
    start = end;
  }
  return lengths;
}

/**
 * Returns a memory's chunks for the search index. `metadata` is JSON text. Its title is indexed
 * with the first chunk, unless that chunk contains the title, and its author with every chunk.
 */
export function indexedChunks(
  content: string,
  metadata: string,
  lengths: readonly number[],
): IndexedChunk[] {
  const { title, author } = namesIn(metadata);
  let end = 0;
  return lengths.map((length) => {
    const start = end;
    end += length;
    const text = content.slice(start, end);
    const titled = start === 0 && !text.includes(title) ? `${title}\n${text}` : text;
    return { start, length, text: normalize(titled, author) };
  });
}

function namesIn(metadata: string): { title: string; author: string } {
  if (!/"(?:title|speaker|author|role)"/.test(metadata)) return { title: '', author: '' };
  const { title, speaker, author, role }: Record<string, unknown> = JSON.parse(metadata);
  const name = [speaker, author, role].find((one) => typeof one === 'string');
  return {
    title: typeof title === 'string' ? title : '',
    author: typeof name === 'string' && name.length <= maxAuthorLength ? name : '',
  };
}

function cutAfter(text: string, start: number): number {
  const limit = start + targetLength;
  if (limit >= text.length) return text.length;
  const half = start + targetLength / 2;
  const window = text.slice(half, limit);
  for (const boundary of boundaries) {
    const last = lastMatchEnd(boundary, window);
    if (last > 0) return half + last;
  }
  return isHighSurrogate(text.charCodeAt(limit - 1)) ? limit - 1 : limit;
}

function lastMatchEnd(pattern: RegExp, text: string): number {
  let end = 0;
  for (const match of text.matchAll(pattern)) end = match.index + match[0].length;
  return end;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
