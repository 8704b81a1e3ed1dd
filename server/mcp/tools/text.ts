import type { Memory } from '../../../sdk/index.ts';
import { keyOf } from './key.ts';
import type { ContentRange } from './session.ts';

/* Formats memories as text for a model. A heading or an excerpt is always a single line. */

/**
 * Returns a memory's heading, such as `[mem_…] 2026-11-22 ticket helpdesk`: id, date, type and
 * source, then the name of a document, the key that the memory was saved with, and the status,
 * unless it is `complete`.
 */
export function headOf(memory: Memory): string {
  const { id, occurredAt, createdAt, type, source, status } = memory;
  const date = (occurredAt ?? createdAt).slice(0, 'yyyy-mm-dd'.length);
  const key = keyOf(memory);
  const name = nameOf(memory);
  const parts = [`[${id}]`, date, type];
  if (source !== null) parts.push(oneLine(source));
  if (name !== null) parts.push(JSON.stringify(cutLine(name, nameCharacters)));
  if (key !== null) parts.push(`key ${JSON.stringify(oneLine(key))}`);
  if (status !== 'complete') parts.push(`(${status})`);
  return parts.join(' ');
}

/** Leaves room for the text in a line of a list. */
const nameCharacters = 60;

/** Returns the title of a document or its external id, because an excerpt may have neither. */
function nameOf({ type, metadata, externalId }: Memory): string | null {
  if (type !== 'document') return null;
  return typeof metadata.title === 'string' ? metadata.title : externalId;
}

/** Replaces line breaks and control characters, so that stored text cannot forge a line. */
export function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
}

/**
 * Removes invisible characters, such as bidirectional overrides, zero-width spaces and tags. They
 * can hide instructions from people, but not from a model. Single joiners and variation selectors
 * stay where scripts and emoji need them.
 */
export function withoutInvisible(text: string): string {
  return text.replace(invisible, '');
}

const ignorable = String.raw`\p{Default_Ignorable_Code_Point}`;
const joined = String.raw`[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}]`;
const joiner = String.raw`(?<=${joined})[\u200C\u200D](?=${joined})`;
const emojiStyle = String.raw`(?<=[^\s${ignorable}])[\uFE00-\uFE0F]`;
const ideographVariant = String.raw`(?<=\p{Script=Han})[\u{E0100}-\u{E01EF}]`;
const invisible = new RegExp(`(?!${joiner}|${emojiStyle}|${ideographVariant})${ignorable}`, 'gu');

export function cutLine(text: string, characters: number): string {
  // Cut the text first, because a document can have millions of characters.
  // mutate-ignore constant: a longer text is cut to the same line
  const line = oneLine(text.slice(0, characters * 4));
  const points = [...line];
  if (points.length <= characters && text.length <= characters * 4) return line;
  return `${points
    .slice(0, characters - 1)
    .join('')
    .trimEnd()}…`;
}

/**
 * Returns a part of a memory's content, and the length of the whole. The service may have returned
 * the part instead of the whole.
 */
export function contentPart(memory: Memory & { contentLength?: number }, range: ContentRange) {
  const { content, contentLength } = memory;
  if (contentLength !== undefined) return { part: content, length: contentLength };
  const points = [...content];
  const end = range.offset + range.length;
  return { part: points.slice(range.offset, end).join(''), length: points.length };
}
