import { isLowSurrogate } from '../search/scripts.ts';

/** Places to cut, best first. The cut is at the end of the match. */
const boundaries = [/\n\s*\n/g, /\n/g, /[.!?。！？]["')\]]?\s|[。！？]/g, /\s/g];

/**
 * Cuts a part of a text into pieces of at most `target` UTF-16 units and returns their
 * lengths. Prefers to cut after a paragraph that ends in the second half of the piece, else after a
 * line, a sentence or a word. Never splits a surrogate pair. Takes linear time.
 */
export function cutText(text: string, target: number, from = 0, to = text.length): number[] {
  const lengths: number[] = [];
  for (let start = from; start < to; ) {
    const end = cutAfter(text, target, start, to);
    lengths.push(end - start);
    start = end;
  }
  return lengths;
}

function cutAfter(text: string, target: number, start: number, end: number): number {
  const limit = start + target;
  if (limit >= end) return end;
  const half = start + Math.floor(target / 2);
  const window = text.slice(half, limit);
  for (const boundary of boundaries) {
    const last = lastMatchEnd(boundary, window);
    if (last > 0) return half + last;
  }
  return isLowSurrogate(text.charCodeAt(limit)) ? limit - 1 : limit;
}

function lastMatchEnd(pattern: RegExp, text: string): number {
  let end = 0;
  for (const match of text.matchAll(pattern)) end = match.index + match[0].length;
  return end;
}
