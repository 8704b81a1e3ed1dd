import { canBeSpeaker, labelIn } from '../search/labels.ts';
import { normalizeWords } from '../search/normalize.ts';

const none: ReadonlyMap<string, string> = new Map();
/** A line's time and label end before this. */
const maxHeadLength = 100;

/**
 * Returns the labels of a conversation's speakers, each with its normalized form: at least two
 * labels recur, and lines that begin with one of these are at least half of all lines. In any other
 * text, only the first line can name a speaker.
 */
export function speakersOf(content: string): ReadonlyMap<string, string> {
  if (!content.includes('\n')) return none;
  const counts = new Map<string, number>();
  let lines = 0;
  let colon = -1;
  for (let start = 0, end = 0; start < content.length; start = end + 1) {
    end = content.indexOf('\n', start);
    if (end < 0) end = content.length;
    if (isBlank(content, start, end)) continue;
    lines += 1;
    if (colon < start) colon = indexOrEnd(content, ': ', start);
    const label =
      colon < end ? labelOf(content.slice(start, Math.min(end, start + maxHeadLength))) : '';
    if (label !== '') counts.set(label, (counts.get(label) ?? 0) + 1);
  }
  const recurring = [...counts].filter(([, count]) => count > 1);
  const spoken = recurring.reduce((sum, [, count]) => sum + count, 0);
  if (recurring.length < 2 || spoken < lines / 2) return none;
  const names = recurring.map(([label]) => [label, normalizeWords(label)] as const);
  return new Map(names.filter(([, name]) => canBeSpeaker(name)));
}

function isBlank(text: string, start: number, end: number): boolean {
  return text.charCodeAt(start) <= 0x20 && text.slice(start, end).trim() === '';
}

function indexOrEnd(text: string, part: string, from: number): number {
  const at = text.indexOf(part, from);
  return at < 0 ? text.length : at;
}

function labelOf(line: string): string {
  const found = labelIn(line);
  return found === null ? '' : line.slice(found.start, found.colon);
}
