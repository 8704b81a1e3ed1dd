import { limits } from '../../../sdk/contract/limits.ts';
import { matches } from '../../memory/filter.ts';
import { reportProgress } from '../../threads/serve.ts';
import type { Tx } from '../engine.ts';
import type { SearchResults } from '../search-results.ts';
import type { Search, StoredMemory } from '../types/memories.ts';
import { memoriesWithTasks, memoryColumns, notExpired, readContent } from './columns.ts';
import { overIds } from './id-lists.ts';

/** The content of a large memory is null, and is read once the filter has accepted the memory. */
type Row = Omit<StoredMemory, 'content'> & { content: string | null };
type Ranked = Parameters<SearchResults['add']>[0];
type Found = { memory: Ranked; row: Row };

/** A larger memory is read by its own statement. */
const largeBytes = 64 * 1024;
/** The number of memories that are read by statements of their own at the same time. */
const largeAtOnce = 16;
/** The number of memories in a statement, if the filter rejects most of them. */
const maxAtOnce = 500;

/**
 * Reads the ranked memories, and adds those that match the filter until there is no more room. The
 * more of them the filter has rejected, the more are read at once.
 */
export async function addFound(
  tx: Tx,
  read: Search,
  ranked: Iterable<Ranked>,
  results: SearchResults,
): Promise<void> {
  let rejected = 0;
  const size = () => Math.min(maxAtOnce, Math.max(results.room, 2 * rejected));
  for (const some of inParts(ranked, size)) {
    const found = await readMatching(tx, read, some);
    rejected += some.length - found.length;
    await addContents(tx, read, found.slice(0, results.room), results);
    if (results.room === 0) break;
  }
}

function* inParts<Item>(items: Iterable<Item>, size: () => number): Generator<Item[]> {
  let part: Item[] = [];
  for (const item of items) {
    part.push(item);
    // mutate-ignore boundary: one more is read
    if (part.length < size()) continue;
    yield part;
    part = [];
  }
  if (part.length > 0) yield part;
}

const columns = `${memoryColumns},
  CASE WHEN m.bytes <= ${largeBytes} THEN m.content END AS content`;

/** The join makes both databases look up each memory by its id. */
const foundMemories = overIds(
  4,
  (ids) => `SELECT ${columns}
    FROM (VALUES ${ids.replaceAll(/\$\d+/g, '(CAST($& AS text))')}) AS found
    CROSS JOIN ${memoriesWithTasks}
    WHERE m.project_id = CAST($1 AS bigint) AND m.user_id = CAST($2 AS text)
      AND m.id = found.column1 AND ${notExpired('$3')}`,
  // mutate-ignore constant: affects only speed
  [16, limits.pageItems, maxAtOnce],
);

/** Returns those of the memories that have not expired and match the filter, in the same order. */
async function readMatching(
  tx: Tx,
  { projectId, userId, now, filter }: Search,
  some: readonly Ranked[],
): Promise<Found[]> {
  const rows = new Map<string, Row>();
  for (const { text, ids } of foundMemories(some.map(({ id }) => id))) {
    for (const row of await tx.all<Row>(text, [projectId, userId, now, ...ids])) {
      reportProgress();
      if (matches(row, filter)) rows.set(row.id, row);
    }
  }
  return some.flatMap((memory) => {
    const row = rows.get(memory.id);
    return row === undefined ? [] : [{ memory, row }];
  });
}

async function addContents(
  tx: Tx,
  { projectId, userId }: Search,
  found: readonly Found[],
  results: SearchResults,
): Promise<void> {
  for (let start = 0; start < found.length; start += largeAtOnce) {
    const read = found.slice(start, start + largeAtOnce).map(async ({ memory, row }) => {
      // mutate-ignore operand: affects only speed
      const content = row.content ?? (await readContent(tx, projectId, userId, row.id));
      return { memory, row: { ...row, content } };
    });
    for (const { memory, row } of await Promise.all(read)) results.add(memory, row);
  }
}
