import { dayOf } from '../search/calendar.ts';
import type { IndexedChunk } from '../search/chunk-table.ts';
import { isRole } from '../search/labels.ts';
import { normalize, normalizeWords } from '../search/normalize.ts';
import { cutText } from './cuts.ts';
import { isReplyRole, type Message, matchLines, messagesOf } from './messages.ts';
import { speakersOf } from './speakers.ts';

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

type Piece = { start: number; length: number; message: Message | null };

/**
 * Cuts the text of a memory into chunks and returns their lengths. A chunk never contains parts of
 * two messages of a chat with a language model: most replies are long, and most questions short.
 */
export function splitChunks(content: string): number[] {
  return piecesOf(content).map(({ length }) => length);
}

/** Returns a memory's chunks. `metadata` is JSON text, and its role is that of the whole text. */
export function chunksOf(content: string, metadata: string): Chunk[] {
  const { role } = namesIn(metadata);
  return piecesOf(content).map((piece) => chunkOf(piece, role));
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
  const { title, author, role } = namesIn(metadata);
  const speakers = speakersOf(content);
  const isConversation = speakers.size > 0;
  const dayAt = dayReader(content, occurredAt);
  return piecesOf(content).map((piece) => {
    const { start, length, sender } = chunkOf(piece, role);
    const text = withoutRole(content, piece);
    const anyOnFirstLine = author !== '' || (start === 0 && sender === null);
    const body = normalize(text, { author, anyOnFirstLine, speakers });
    const head = start === 0 && !text.includes(title) ? normalizeWords(title) : '';
    const day = dayAt(start + length);
    const whole = head === '' ? body : `${head}\n${body}`;
    return { start, length, sender, day, isConversation, text: whole };
  });
}

export function namesIn(metadata: string): { title: string; author: string; role: string } {
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

function piecesOf(content: string): Piece[] {
  const pieces: Piece[] = [];
  const messages = messagesOf(content);
  const add = (message: Message | null, end: number | undefined) => {
    let start = message?.start ?? 0;
    for (const length of cutText(content, start, end)) {
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
