import type { NewMemory } from '../../../server/storage/storage.ts';
import { readConversations } from '../../eval/data.ts';

/*
 * Made-up memories, each a function of its number alone, so that a table can be grown further at
 * any time, and grown again to the same. Texts are cut from conversations that people could have
 * had; a few users own most of them.
 */

export type MadeRow = Omit<NewMemory, 'passages'> & { createdAt: number };

/** Owns every second of the first 10,000 memories: 1,000 pages of five, in a table of any size. */
export const walker = { userId: 'walker', pageItems: 5, pages: 1_000 };
/** Owns exactly 1,000 of the first 10,000 memories. */
export const searcher = { userId: 'searcher' };

const ownedFirst = 10_000;
const firstAt = Date.UTC(2025, 0, 1);
const everyMs = 3_000;
const memoriesPerUser = 50;
const usersAtFirst = 20;

let corpus: string | undefined;

/** Text of exactly so many bytes, in ASCII, cut from the conversations at a place of its own. */
export function textOf(at: number, bytes: number): string {
  corpus ??= readConversations()
    .turns.map(({ text }) => text)
    .join(' ')
    .replace(/[^\x20-\x7e]/g, '-');
  const from = Math.floor(scattered(at, 1) * (corpus.length - bytes));
  return corpus.slice(from, from + bytes);
}

/** The more memories, the more users; each new memory is likely one of the first users'. */
export function userOf(at: number): string {
  const users = usersAtFirst + at / memoriesPerUser;
  return `user-${Math.floor(users * scattered(at, 2) ** 4)}`;
}

/** Memory number `at`, from 0. */
export function rowOf(at: number): MadeRow {
  const createdAt = firstAt + at * everyMs;
  return {
    id: idOf(at),
    userId: ownerOf(at),
    type: 'memory',
    content: textOf(at, lengthOf(at)),
    metadata: at % 4 === 0 ? `{"topic":"topic-${at % 100}"}` : '{}',
    source: null,
    externalId: null,
    createdAt,
  };
}

/** Ids begin with their time, as those that the service makes. */
export function idOf(at: number): string {
  const time = (firstAt + at * everyMs).toString(16).padStart(12, '0');
  const rest = Bun.hash(String(at)).toString(16).padStart(16, '0');
  return `mem_${time}7${rest}${rest.slice(0, 3)}`;
}

function ownerOf(at: number): string {
  if (at >= ownedFirst) return userOf(at);
  if (at % 2 === 0) return walker.userId;
  return at % 10 === 3 ? searcher.userId : userOf(at);
}

/** Mostly about a sentence, now and then a paragraph. */
function lengthOf(at: number): number {
  return Math.floor(40 + 120 * scattered(at, 3) + 800 * scattered(at, 4) ** 16);
}

/** In [0, 1), the same for the same arguments, without any order. */
function scattered(at: number, stream: number): number {
  let mixed = (Math.imul(at + 1, 0x9e3779b1) ^ Math.imul(stream, 0x85ebca6b)) >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
  return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
}
