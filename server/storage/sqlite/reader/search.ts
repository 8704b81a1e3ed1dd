import type { Database } from 'bun:sqlite';
import type { FoundMemory } from '../../../memory/json.ts';
import { parseQuery } from '../../../search/query.ts';
import { createHeldIndexes, rank } from '../../held-indexes.ts';
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

  function search(read: SearchRead): FoundMemory[] {
    const { projectId, userId, now } = read;
    const own = held.take(JSON.stringify([projectId, userId]));
    catchUp(own, { projectId, userId });
    const ranked = rank(own, parseQuery(read.query));
    const results = new SearchResults(ranked, read);
    for (const place of ranked) {
      results.add(place, getMemory({ projectId, id: place.id, now }));
      if (results.isFull) break;
    }
    return results.found;
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
