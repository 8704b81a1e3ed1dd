import { analyse } from '../search/analyse.ts';
import type { Passage } from '../storage/storage.ts';
import { mapInTurns } from '../turns.ts';

/** A stretch of a text, in UTF-16 units. */
export type Slice = Pick<Passage, 'start' | 'length'>;

/** About a long paragraph: enough to be understood alone, little enough to point at. */
const targetLength = 1_000;

/** Read in less than a turn, which would cost a short text more than the work. */
const shortLength = 8 * targetLength;

/** It is stored with each passage; what is longer is no name. */
const maxNameLength = 200;

/** From the best place to cut to the least good; each matches up to where the cut falls. */
const boundaries = [/\n\s*\n/g, /\n/g, /[.!?。！？]["')\]]?\s|[。！？]/g, /\s/g];

/**
 * The passages of a memory as they are stored: its text cut, and each part as search reads it. A
 * title that the text does not hold is found with the first of them, and who speaks with each.
 * `metadata` is JSON text.
 */
export function indexPassages(content: string, metadata: string): Passage[] {
  return splitPassages(content).map(readerOf(content, metadata));
}

/** The same, but over a long text others are let in between. */
export function indexInTurns(content: string, metadata: string): Passage[] | Promise<Passage[]> {
  if (content.length <= shortLength) return indexPassages(content, metadata);
  return mapInTurns(splitPassages(content), readerOf(content, metadata));
}

function readerOf(content: string, metadata: string): (slice: Slice) => Passage {
  const { title, speaker } = namesIn(metadata);
  return ({ start, length }) => {
    const text = content.slice(start, start + length);
    const named = start === 0 && !text.includes(title) ? `${title}\n${text}` : text;
    return { start, length, folded: analyse(named, speaker) };
  };
}

/** What a memory's metadata may say of its text that the text does not. */
function namesIn(metadata: string): { title: string; speaker: string } {
  if (!/"(?:title|speaker|author|role)"/.test(metadata)) return { title: '', speaker: '' };
  const { title, speaker, author, role }: Record<string, unknown> = JSON.parse(metadata);
  const said = [speaker, author, role].find((name) => typeof name === 'string');
  return {
    title: typeof title === 'string' ? title : '',
    speaker: typeof said === 'string' && said.length <= maxNameLength ? said : '',
  };
}

/**
 * Cuts a text into passages of at most `targetLength` UTF-16 units that together are the whole
 * text, at the end of a paragraph where there is one in the second half of the passage, else of a
 * line, a sentence or a word; never inside a surrogate pair. Takes time linear in the text.
 */
export function splitPassages(text: string): Slice[] {
  const passages: Slice[] = [];
  let start = 0;
  while (start < text.length) {
    const end = cutAfter(text, start);
    passages.push({ start, length: end - start });
    start = end;
  }
  return passages;
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
