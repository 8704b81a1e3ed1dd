import type { Database } from 'bun:sqlite';
import { parseQuery } from '../../../search/query.ts';
import { createHeldIndexes, meaningUsed, rank } from '../../held-indexes.ts';
import { foundItems } from '../../read-reply.ts';
import { SearchResults } from '../../search-results.ts';
import type { SearchResult, Storage } from '../../storage.ts';
import { createIndexReads } from './held-index.ts';
import { createKeyReads } from './memories.ts';

type SearchRead = Parameters<Storage['searchMemories']>[0];

/**
 * Creates the search function of a reader thread, which keeps up to `maxBytes` of recently used
 * indexes. Each search runs in one read transaction, so the index, the memories and the filter are
 * consistent.
 */
export function createSearches(
  db: Database,
  maxBytes: number,
): { searchMemories(read: SearchRead): SearchResult } {
  const { catchUp } = createIndexReads(db);
  const { getMemory } = createKeyReads(db);
  const held = createHeldIndexes(maxBytes);

  function search(read: SearchRead): SearchResult {
    const { projectId, userId, now, meaning = null } = read;
    const own = held.take(JSON.stringify([projectId, userId]));
    catchUp(own, { projectId, userId }, meaning);
    const ranked = rank(own, parseQuery(read.query, read.now), meaning);
    const results = new SearchResults(ranked, read);
    for (const place of ranked) {
      results.add(place, getMemory({ projectId, id: place.id, now }));
      if (results.isFull) break; // mutate-ignore removal: a full list takes no more
    }
    return { items: foundItems(results.found), ...meaningUsed(own, meaning) };
  }

  return {
    searchMemories(read) {
      try {
        return search(read);
      } finally {
        held.dropOldest();
      }
    },
  };
}
