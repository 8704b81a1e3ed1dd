import { bucketOf } from '../../../bucket.ts';
import { isUnfiltered } from '../../../memory/filter.ts';
import type { Ranked, RankedMemory } from '../../../search/index.ts';
import { parseQuery } from '../../../search/query.ts';
import { createHeldIndexes, meaningUsed, rank } from '../../held-indexes.ts';
import { SearchResults } from '../../search-results.ts';
import type { ItemsJson, SearchResult, Storage, StoredMemory } from '../../storage.ts';
import { memoryColumns, notExpired, withTask } from '../row.ts';
import { query, type Run, textArray } from '../statement.ts';
import { catchUp } from './held-index.ts';

type SearchRead = Parameters<Storage['searchMemories']>[0];

/** The maximum number of memories per fetch. */
const maxFetched = 16;

/**
 * Creates the search function of a reader thread, which keeps up to `maxBytes` of recently used
 * indexes. Each search runs in one snapshot, so the index, the memories and the filter are
 * consistent.
 */
export function createSearch(
  maxBytes: number,
): (run: Run, read: SearchRead) => Promise<SearchResult> {
  const held = createHeldIndexes(maxBytes);
  return async (run, read) => {
    const { projectId, userId, meaning = null } = read;
    try {
      const own = held.take(JSON.stringify([projectId, userId]));
      await catchUp(run, own, { projectId, userId }, meaning);
      const ranked = rank(own, parseQuery(read.query, read.now), meaning);
      const items = await collect(run, read, ranked);
      return { items, ...meaningUsed(own, meaning) };
    } finally {
      held.dropOldest();
    }
  };
}

async function collect(run: Run, read: SearchRead, ranked: Ranked): Promise<ItemsJson> {
  const results = new SearchResults(ranked, read);
  const size = isUnfiltered(read.filter) ? Math.min(read.limit, maxFetched) : maxFetched;
  for (const places of inParts(ranked, size)) {
    const memories = await readMemories(run, read, places);
    for (const place of places) results.add(place, memories.get(place.id) ?? null);
    if (results.isFull) break;
  }
  return results.items();
}

function* inParts(ranked: Iterable<RankedMemory>, size: number): Generator<RankedMemory[]> {
  let part: RankedMemory[] = [];
  for (const one of ranked) {
    part.push(one);
    if (part.length < size) continue;
    yield part;
    part = [];
  }
  if (part.length > 0) yield part;
}

async function readMemories(
  run: Run,
  { projectId, userId, now }: SearchRead,
  places: readonly RankedMemory[],
): Promise<Map<string, StoredMemory>> {
  const rows = await query<StoredMemory>(
    run,
    `SELECT ${memoryColumns} FROM memories AS m ${withTask}
     WHERE m.project_id = $1::int8 AND m.bucket = $2::int2 AND m.id = ANY ($3::text[])
       AND ${notExpired('$4::int8')}`,
    projectId,
    bucketOf(userId),
    textArray(places.map(({ id }) => id)),
    now,
  );
  return new Map(rows.map((memory) => [memory.id, memory]));
}
