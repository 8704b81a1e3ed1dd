import { dayOf } from '../search/calendar.ts';
import { withParts } from '../search/camel-case.ts';
import type { IndexedChunk } from '../search/chunk-table.ts';
import { isRole } from '../search/labels.ts';
import { normalize, normalizeWords } from '../search/normalize.ts';
import { cutText } from './cuts.ts';
import { isReplyRole, type Message, matchLines, messagesOf } from './messages.ts';
import { speakersOf } from './speakers.ts';

/** The first chunks of a memory get vectors. A text of 5 MB would take minutes of a core. */
export const maxVectors = 64;

/**
 * About the length of a long paragraph: long enough to make sense on its own, and short enough for
 * a precise hit.
 */
export const targetLength = 1_000;

/** A document has several topics on a page, and a vector should stand for one of them. */
const documentTarget = 500;

/** The author is indexed with each chunk. A longer value is ignored, because it is not a name. */
const maxAuthorLength = 200;

/**
 * The position of a chunk in its memory, and the sender of its message if it is part of a chat with
 * a language model. `isFirst` means that the chunk begins its message or, outside of chats, its
 * memory.
 */
type Chunk = {
  start: number;
  length: number;
  sender: 'user' | 'model' | null;
  isFirst: boolean;
};

/** The date of a line that begins with a time, as in a conversation or a diary. */
const date = /[[(]?(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))(?!\d)/y;

type Names = { title: string; author: string; role: string };
type Piece = { start: number; length: number; message: Message | null };

/**
 * Returns a memory's chunks. `metadata` is JSON text, and its role is that of the whole text. A
 * chunk never contains parts of two messages of a chat with a language model: most replies are
 * long, and most questions short.
 */
export function chunksOf(content: string, metadata: string): Chunk[] {
  const names = namesIn(metadata);
  return piecesOf(content, names).map((piece) => chunkOf(piece, names.role));
}

/**
 * Returns a memory's chunks for the search index. The title in the metadata is indexed with the
 * first chunk, unless that chunk contains the title, and the author with every chunk. A chunk's day
 * is that of a line that begins with a time, or else the memory's.
 */
export function indexedChunks(
  content: string,
  metadata: string,
  occurredAt: number | null = null,
): IndexedChunk[] {
  const names = namesIn(metadata);
  const { title, author, role } = names;
  const speakers = speakersOf(content);
  const isConversation = speakers.size > 0;
  const dayAt = dayReader(content, occurredAt);
  return piecesOf(content, names).map((piece) => {
    const { start, length, sender } = chunkOf(piece, role);
    const text = withoutRole(content, piece);
    const anyOnFirstLine = author !== '' || (start === 0 && sender === null);
    const body = normalize(text, { author, anyOnFirstLine, speakers });
    const head = start === 0 && !text.includes(title) ? normalizeWords(withParts(title)) : '';
    const day = dayAt(start + length);
    const whole = head === '' ? body : `${head}\n${body}`;
    return { start, length, sender, day, isConversation, text: whole };
  });
}

export function namesIn(metadata: string): Names {
  if (!/"(?:title|speaker|author|role)"/.test(metadata)) return { title: '', author: '', role: '' };
  const { title, speaker, author, role }: Record<string, unknown> = JSON.parse(metadata);
  const names = [speaker, author, role].filter((one) => typeof one === 'string');
  const name = [speaker, author].find((one) => typeof one === 'string') ?? '';
  return {
    title: typeof title === 'string' ? title : '',
    author: name.length <= maxAuthorLength && !isRole(name) ? name : '',
    role: names.find(isRole) ?? '',
  };
}

function piecesOf(content: string, names: Names): Piece[] {
  const pieces: Piece[] = [];
  const messages = messagesOf(content);
  const target = messages.length > 0 ? targetLength : targetOf(content, names);
  const add = (message: Message | null, end: number | undefined) => {
    let start = message?.start ?? 0;
    for (const length of cutText(content, target, start, end)) {
      pieces.push({ start, length, message });
      start += length;
    }
  };
  const [first] = messages;
  if (first?.start !== 0) add(null, first?.start);
  for (let at = 0; at < messages.length; at += 1) {
    add(messages[at] ?? null, messages[at + 1]?.start);
  }
  return pieces;
}

/**
 * A longer text with a title is a document, unless it is a message or a conversation. The chunks of
 * a long document are longer. Each has more than half of its target, so that the vectors of the
 * first chunks stand for as much text as those of other long texts.
 */
function targetOf(content: string, { title, role }: Names): number {
  const { length } = content;
  if (title === '' || role !== '' || length <= targetLength) return targetLength;
  const target = Math.max(documentTarget, Math.ceil((2 * length) / maxVectors));
  if (target >= targetLength) return targetLength;
  return speakersOf(content).size > 0 ? targetLength : target;
}

function chunkOf({ start, length, message }: Piece, role: string): Chunk {
  const isFirst = start === (role === '' ? (message?.start ?? 0) : 0);
  if (role === '' && message === null) return { start, length, sender: null, isFirst };
  const isReply = role === '' ? message?.isReply : isReplyRole(role);
  return { start, length, sender: isReply ? 'model' : 'user', isFirst };
}

/** Returns the text of a piece without the role of its message, because a role names nobody. */
function withoutRole(content: string, { start, length, message }: Piece): string {
  if (start !== message?.start) return content.slice(start, start + length);
  const time = content.slice(start, start + message.timeLength);
  return time + content.slice(message.textStart, start + length);
}

/**
 * Returns a function that tells the day of the next chunk, given its end: the day of its first line
 * that begins with a time, or else of the last such line before it, or else of the memory.
 */
function dayReader(content: string, occurredAt: number | null): (end: number) => number | null {
  let last = occurredAt === null ? null : dayOf(occurredAt);
  if (!content.includes('-')) return () => last;
  const times = matchLines(content, date).map(({ index, 1: text = '' }) => {
    return { index, day: dayOf(Date.parse(text)) };
  });
  let at = 0;
  return (end) => {
    let first: number | null = null;
    for (; (times[at]?.index ?? end) < end; at += 1) {
      last = times[at]?.day ?? last;
      first ??= last;
    }
    return first ?? last;
  };
}
