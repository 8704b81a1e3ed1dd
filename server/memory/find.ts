import { ServiceError } from '../errors.ts';
import { parseQuery } from '../search/query.ts';
import { Search } from '../search/score.ts';
import { snippet } from '../search/snippet.ts';
import type { Filter, Storage, StoredMemory } from '../storage/storage.ts';
import { createTurns, inTurns, type Turn } from '../turns.ts';
import { matches } from './filter.ts';

/** A memory that was found: how well, and where. */
export type FoundMemory = { memory: StoredMemory; score: number; snippet: string };

/** Of text in an answer of more than one memory, in UTF-16 units. Ten of the usual largest fit. */
const mostText = 64 * 1024 * 1024;

type Wanted = { projectId: number; userId: string; query: string; filter: Filter; limit: number };

/**
 * The memories of a user that answer a query, best first. All passages of the user, and of nobody
 * else, are read: how rare a word is, is their own affair, and so is what the search costs. Throws
 * `invalid_request` where their texts are too much for one answer: fewer than asked for would look
 * like all.
 */
export type Finder = (wanted: Wanted, signal: AbortSignal) => Promise<FoundMemory[]>;

/**
 * A search of much text lets others in between its steps, but for other searches: each of them
 * holds all the text of a user. Who has left before his turn came, by the `signal`, is passed over.
 */
export function createFinder(storage: Storage): Finder {
  let last = Promise.resolve();
  return (wanted, signal) => {
    const found = last.then(() => (signal.aborted ? [] : find(storage, wanted)));
    last = found.then(forget, forget);
    return found;
  };
}

/** What was found may be large, and the next search may be long in coming. */
function forget(): void {}

async function find(storage: Storage, wanted: Wanted): Promise<FoundMemory[]> {
  const found = await findMeanwhile(storage, wanted, createTurns());
  if (found !== null) return found;
  // Something was changed meanwhile: once more, and in one piece.
  const again = await findMeanwhile(storage, wanted, () => undefined);
  if (again !== null) return again;
  throw new ServiceError('unavailable', 'what was searched is being changed; try again', {
    retryAfterSeconds: 1,
  });
}

/** Null where a text that was to be found is not any more what it was when it was read. */
async function findMeanwhile(
  storage: Storage,
  wanted: Wanted,
  turn: Turn,
): Promise<FoundMemory[] | null> {
  const { projectId, userId, filter, limit } = wanted;
  const search = new Search(parseQuery(wanted.query));
  for await (const passages of storage.listPassages(projectId, userId)) {
    for (const passage of passages) {
      search.add(passage);
      const others = turn();
      if (others !== undefined) await others;
    }
  }
  const ranked = await inTurns(search.bestInSteps(Number.POSITIVE_INFINITY), turn);
  const found: FoundMemory[] = [];
  let length = 0;
  const version = await storage.version();
  for (const { passage, score } of ranked) {
    const one = await storage.getPassage(projectId, userId, passage);
    if (one?.folded !== passage.folded) return null;
    const { memory, start } = one;
    if (matches(memory, filter)) {
      const text = memory.content.slice(start, start + one.length);
      length += memory.content.length;
      if (found.length > 0 && length > mostText) throw tooMuch(found.length);
      found.push({ memory, score, snippet: snippet(text, search.matcher) });
      if (found.length === limit) break;
    }
    const others = turn();
    if (others !== undefined) await others;
  }
  const mayBeOld = (await storage.version()) !== version;
  return mayBeOld && !(await areCurrent(storage, projectId, found)) ? null : found;
}

/** Whether each is still what it was when it was fetched: others have been let in since. */
async function areCurrent(
  storage: Storage,
  projectId: number,
  found: FoundMemory[],
): Promise<boolean> {
  for (const { memory } of found) {
    const now = await storage.getMemory(projectId, memory.id);
    if (!Bun.deepEquals(now, memory)) return false;
  }
  return true;
}

function tooMuch(fitting: number): ServiceError {
  const message = `must be lower here: the texts of more than ${fitting} are too much for one answer`;
  return new ServiceError('invalid_request', `limit ${message}`, {
    details: [{ field: 'limit', message }],
  });
}
