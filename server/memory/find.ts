import { ServiceError } from '../errors.ts';
import { parseQuery } from '../search/query.ts';
import { Search } from '../search/score.ts';
import { snippet } from '../search/snippet.ts';
import type { Filter, Storage, StoredMemory } from '../storage/storage.ts';
import { matches } from './filter.ts';

/** A memory that was found: how well, and where. */
export type FoundMemory = { memory: StoredMemory; score: number; snippet: string };

/** Memories fetched at a time, best first, until enough of them pass the filter. */
const fetchedAtOnce = 10;
/** Of text in an answer of more than one memory, in UTF-16 units. Ten of the usual largest fit. */
const mostText = 64 * 1024 * 1024;

/**
 * The memories of a user that answer a query, best first. All passages of the user, and of nobody
 * else, are read: how rare a word is, is their own affair, and so is what the search costs. Throws
 * `invalid_request` where their texts are too much for one answer: fewer than asked for would look
 * like all.
 */
export async function findMemories(
  storage: Storage,
  wanted: { projectId: number; userId: string; query: string; filter: Filter; limit: number },
): Promise<FoundMemory[]> {
  const { projectId, userId, filter, limit } = wanted;
  const search = new Search(parseQuery(wanted.query));
  for (const passage of await storage.listPassages(projectId, userId)) search.add(passage);
  const ranked = search.best(Number.POSITIVE_INFINITY);
  const found: FoundMemory[] = [];
  let length = 0;
  for (let at = 0; at < ranked.length && found.length < limit; at += fetchedAtOnce) {
    const next = ranked.slice(at, at + fetchedAtOnce);
    const places = next.map(({ passage: { memory, ordinal } }) => ({ memory, ordinal }));
    const fetched = await storage.getPassages(projectId, places);
    for (const [index, one] of fetched.entries()) {
      // Deleted or changed a moment ago: what is not there any more is not found.
      if (one === null || !matches(one.memory, filter) || found.length === limit) continue;
      const text = one.memory.content.slice(one.start, one.start + one.length);
      const score = next[index]?.score ?? 0;
      length += one.memory.content.length;
      if (found.length > 0 && length > mostText) throw tooMuch(found.length);
      found.push({ memory: one.memory, score, snippet: snippet(text, search.matcher) });
    }
  }
  return found;
}

function tooMuch(fitting: number): ServiceError {
  const message = `must be lower here: the texts of more than ${fitting} are too much for one answer`;
  return new ServiceError('invalid_request', `limit ${message}`, {
    details: [{ field: 'limit', message }],
  });
}
