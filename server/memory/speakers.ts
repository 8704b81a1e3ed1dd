import { canBeSpeaker, labelIn, startsWithLetter } from '../search/labels.ts';
import { normalizeWords } from '../search/normalize.ts';

const none: ReadonlySet<string> = new Set();

/**
 * Returns the normalized names of the speakers of a conversation: at least two labels recur, and
 * lines that begin with one of these are at least half of all lines. In any other text, only the
 * first line can name a speaker.
 */
export function speakersOf(content: string): ReadonlySet<string> {
  if (!content.includes('\n')) return none;
  const counts = new Map<string, number>();
  let lines = 0;
  for (const line of content.split('\n')) {
    if (line.trim() === '') continue;
    lines += 1;
    const label = labelOf(line);
    if (label !== '') counts.set(label, (counts.get(label) ?? 0) + 1);
  }
  const recurring = [...counts].filter(([, count]) => count > 1);
  const spoken = recurring.reduce((sum, [, count]) => sum + count, 0);
  if (recurring.length < 2 || spoken < lines / 2) return none;
  return new Set(recurring.map(([label]) => normalizeWords(label)).filter(canBeSpeaker));
}

/** Returns the label of a line, or ''. A bullet, a heading or an indented key is not a label. */
function labelOf(line: string): string {
  const found = labelIn(line);
  if (found === null || !startsWithLetter(line, found.start)) return '';
  return line.slice(found.start, found.colon);
}
