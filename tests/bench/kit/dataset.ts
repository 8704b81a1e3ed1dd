import type { Memory } from '../../../sdk/contract/memory.ts';
import { readConversations } from '../../eval/data.ts';

/*
 * Synthetic memories. Each memory is a function of its number, so several servers can store the
 * same dataset and a table can be extended later. The memories are excerpts of conversations. A few
 * users own most memories.
 */

/** Memories in the order in which they are imported. */
export type Dataset = { name: string; count: number; memoryAt(at: number): Imported };

/** Returns a dataset of many users. `walker` and `searcher` own many of its first memories. */
export function tableOf(count: number): Dataset {
  return { name: `table-${count}`, count, memoryAt: (at) => memoryOf(at, ownerOf(at)) };
}

/**
 * This user owns every second one of the first 10,000 memories, so the user has 1,000 pages of five
 * at any table size.
 */
export const walker = { userId: 'walker', pageItems: 5, pages: 1_000 };
/** This user owns exactly 1,000 of the first 10,000 memories. */
export const searcher = { userId: 'searcher' };

/** `users` users with `memories` memories each. */
export type SearchGroup = { memories: number; users: number };

/** Returns the memories of all groups, interleaved as if all users had saved at the same time. */
export function searchDatasetOf(groups: readonly SearchGroup[]): Dataset {
  const owners = groups.flatMap((group) =>
    searchUsers(group).flatMap((userId) => new Array<string>(group.memories).fill(userId)),
  );
  shuffle(owners);
  const name = `search-${groups.map(({ memories, users }) => `${users}x${memories}`).join('-')}`;
  return { name, count: owners.length, memoryAt: (at) => memoryOf(at, owners[at] ?? '') };
}

export function searchUsers({ memories, users }: SearchGroup): string[] {
  return Array.from({ length: users }, (_, at) => `search-${memories}-${at}`);
}

const smallTable = 10_000;
const firstAt = Date.UTC(2025, 0, 1);
const everyMs = 3_000;
const memoriesPerUser = 50;
const initialUsers = 20;

let corpus: string | undefined;

/** Cuts exactly `bytes` bytes of ASCII text from the conversations at a random place. */
export function textOf(at: number, bytes: number): string {
  corpus ??= readConversations()
    .turns.map(({ text }) => text)
    .join(' ')
    .replace(/[^\x20-\x7e]/g, '-');
  const from = Math.floor(random(at, 1) * (corpus.length - bytes));
  return corpus.slice(from, from + bytes);
}

/**
 * Returns a memory's owner. The number of users grows with the number of memories, and a few
 * users own most memories.
 */
export function userOf(at: number): string {
  const users = initialUsers + at / memoriesPerUser;
  return `user-${Math.floor(users * random(at, 2) ** 4)}`;
}

/**
 * Returns up to `limit` users who have `least` to `most` memories each, other than `searcher` and
 * `walker`.
 */
export function usersWith(tableSize: number, { least = 0, most = 0, limit = 1 }): string[] {
  const counts = new Map<string, number>();
  for (let at = 0; at < tableSize; at += 1) {
    const userId = ownerOf(at);
    counts.set(userId, (counts.get(userId) ?? 0) + 1);
  }
  return [...counts]
    .filter(([id, count]) => id.startsWith('user-') && count >= least && count <= most)
    .map(([userId]) => userId)
    .slice(0, limit);
}

/** Returns an id that begins with the creation time, like the service's ids. */
export function idOf(at: number): string {
  const time = (firstAt + at * everyMs).toString(16).padStart(12, '0');
  const rest = Bun.hash(String(at)).toString(16).padStart(16, '0');
  return `mem_${time}7${rest}${rest.slice(0, 3)}`;
}

/** The fields of a memory that the baseline supports as well. */
export type Imported = Omit<Memory, 'version' | 'occurredAt' | 'expiresAt'>;

function memoryOf(at: number, userId: string): Imported {
  const createdAt = new Date(firstAt + at * everyMs).toISOString();
  return {
    id: idOf(at),
    userId,
    content: textOf(at, lengthOf(at)),
    metadata: at % 4 === 0 ? { topic: `topic-${at % 100}` } : {},
    type: 'memory',
    source: null,
    externalId: null,
    status: 'complete',
    createdAt,
    updatedAt: createdAt,
  };
}

function ownerOf(at: number): string {
  if (at >= smallTable) return userOf(at);
  if (at % 2 === 0) return walker.userId;
  return at % 10 === 3 ? searcher.userId : userOf(at);
}

/** Returns the length of a memory: mostly that of a sentence, sometimes that of a paragraph. */
function lengthOf(at: number): number {
  return Math.floor(40 + 120 * random(at, 3) + 800 * random(at, 4) ** 16);
}

/** Shuffles the values in place (Fisher–Yates). The same count always gives the same order. */
function shuffle(values: string[]): void {
  for (let at = values.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random(at, 5) * (at + 1));
    [values[at], values[other]] = [values[other] ?? '', values[at] ?? ''];
  }
}

/** Returns a number in [0, 1), deterministic for the arguments. */
function random(at: number, stream: number): number {
  let mixed = (Math.imul(at + 1, 0x9e3779b1) ^ Math.imul(stream, 0x85ebca6b)) >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
  return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
}
