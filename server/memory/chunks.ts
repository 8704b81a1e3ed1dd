import { dayOf } from '../search/calendar.ts';
import type { IndexedChunk } from '../search/index.ts';
import { isRole } from '../search/labels.ts';
import { normalize, normalizeWords } from '../search/normalize.ts';
import { cutText } from './cuts.ts';
import { isReplyRole, type Message, messagesOf } from './messages.ts';
import { speakersOf } from './speakers.ts';

/** The author is indexed with each chunk. A longer value is ignored, because it is not a name. */
const maxAuthorLength = 200;

/**
 * The position of a chunk in its memory, and the sender of its message if it is part of a chat with
 * a language model. `isFirst` means that the chunk begins its message or, outside of chats, its
 * memory.
 */
export type Chunk = {
  start: number;
  length: number;
  sender: 'user' | 'model' | null;
  isFirst: boolean;
};

/** A time at the start of a line, as in a conversation or a diary. */
const hasTime = /^[[(]?\d{4}-\d\d-\d\d\b/m;
const times = /^[[(]?(\d{4}-\d\d-\d\d)\b/gm;

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
  const dayIn = dayReader(content, occurredAt);
  return piecesOf(content).map((piece) => {
    const { start, length, sender } = chunkOf(piece, role);
    const text = withoutRole(content, piece);
    const anyOnFirstLine = author !== '' || (start === 0 && sender === null);
    const body = normalize(text, { author, anyOnFirstLine, speakers });
    const head = start === 0 && !text.includes(title) ? normalizeWords(title) : '';
    const day = dayIn(content.slice(start, start + length));
    return { start, length, sender, day, text: head === '' ? body : `${head}\n${body}` };
  });
}

function namesIn(metadata: string): { title: string; author: string; role: string } {
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
  const messages = messagesOf(content);
  const parts = messages[0]?.start === 0 ? messages : [null, ...messages];
  return parts.flatMap((message, index) => {
    let end = message?.start ?? 0;
    return cutText(content, end, parts[index + 1]?.start).map((length) => {
      end += length;
      return { start: end - length, length, message };
    });
  });
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
 * Returns a function that reads the day of the next chunk: of its first line that begins with a
 * time, or of the last such line before it, or else of the memory.
 */
function dayReader(content: string, occurredAt: number | null): (text: string) => number | null {
  let last = occurredAt === null ? null : dayOf(occurredAt);
  if (!hasTime.test(content)) return () => last;
  return (text) => {
    const found = [...text.matchAll(times)].map(([, date = '']) => Date.parse(date));
    const [first = last, ...more] = found.filter((ms) => !Number.isNaN(ms)).map(dayOf);
    last = more.at(-1) ?? first;
    return first;
  };
}
