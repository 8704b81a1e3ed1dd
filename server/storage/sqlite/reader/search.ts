import type { Database } from 'bun:sqlite';
import { matches } from '../../../memory/filter.ts';
import type { FoundMemory } from '../../../memory/json.ts';
import { parseQuery } from '../../../search/query.ts';
import { snippet } from '../../../search/snippet.ts';
import { createHeldIndexes } from '../../held-indexes.ts';
import { foundItems } from '../../read-reply.ts';
import { tooMuchText, unavailable } from '../../refusals.ts';
import type { SearchResult, Storage } from '../../storage.ts';
import { createIndexReads } from './held-index.ts';
import { createKeyReads } from './memories.ts';

type SearchRead = Parameters<Storage['searchMemories']>[0];

/** Of text in a response of more than one memory, in UTF-16 units. Ten of the usual largest fit. */
const maxText = 64 * 1024 * 1024;
/** What one search may spend on building an index before it gives way. */
const buildBudgetMs = 10_000;

/**
 * Searches of one reader thread. The indexes of the users that were searched last are held, within
 * `maxBytes`. Everything happens inside one read transaction, so the index, the memories and the
 * filter are of one state of the database.
 */
export function createSearches(
  db: Database,
  maxBytes: number,
): { searchMemories(read: SearchRead): SearchResult } {
  const { catchUp } = createIndexReads(db);
  const { getMemory } = createKeyReads(db);
  const held = createHeldIndexes(maxBytes);

  function search(read: SearchRead): FoundMemory[] {
    const { projectId, userId, filter, limit, now } = read;
    const own = held.take(JSON.stringify([projectId, userId]));
    if (!catchUp(own, { projectId, userId }, performance.now() + buildBudgetMs)) {
      throw unavailable('the search index of this user is being built; try again');
    }
    const ranked = own.index.search(parseQuery(read.query));
    const found: FoundMemory[] = [];
    let length = 0;
    for (const { id, start, length: chunkLength, score } of ranked) {
      const memory = getMemory({ projectId, id, now });
      if (memory === null || !matches(memory, filter)) continue;
      length += memory.content.length;
      if (found.length > 0 && length > maxText) throw tooMuchText(found.length);
      const chunk = memory.content.slice(start, start + chunkLength);
      found.push({ memory, score, snippet: snippet(chunk, ranked.matcher) });
      if (found.length === limit) break;
    }
    return found;
  }

  return {
    searchMemories(read) {
      try {
        return { items: foundItems(search(read)) };
      } finally {
        held.dropOldest();
      }
    },
  };
}
