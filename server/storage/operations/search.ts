import type { ReadOperation, Tx } from '../engine.ts';
import type { CachedIndex, CachedVectors, ChangedMemory, StoredVectors } from '../index-cache.ts';
import type { Search, SearchResult } from '../types/memories.ts';
import type { UserRef } from '../types/project.ts';
import { isTaskOf, memoriesWithTasks, readContent } from './columns.ts';
import { addFound } from './found.ts';
import { minMemories, restore, storeBuilt } from './snapshots.ts';
import { nextPart } from './vector-parts.ts';
import { presentModel } from './vectors.ts';

type User = readonly [projectId: number, userId: string];
type UserRow = {
  memories: number;
  lastChange: number;
  embeddedChange: number;
  snapshotChange: number;
};
type Changed = Omit<ChangedMemory, 'content'> & { content: string | null };

// mutate-ignore constant: without rows, a search finds nothing whatever the numbers are
const noUser: UserRow = { memories: 0, lastChange: 0, embeddedChange: -1, snapshotChange: -1 };

/** The number of changed memories that are read at once. */
const rowsPerBatch = 500;
/** A larger memory is read by its own statement. */
const largeBytes = 4_096;
/** The number of large memories that are read together. */
const readAtOnce = 16;
/** The number of memories that are counted together, to find those that were deleted. */
const memoriesPerRange = 1_000;

/**
 * Returns the user's memories that match a query, best first. The search covers every write that
 * was acknowledged before the call. Throws `invalid_request` if the texts are too large for one
 * response, and `unavailable` if the search would wait too long.
 *
 * A search is one read transaction. The reader thread keeps the user's index, which is brought up
 * to date first.
 */
export const searchMemories: ReadOperation<Search, SearchResult> = {
  async run(tx, read) {
    const { projectId, userId, meaning = null } = read;
    const own = tx.indexes.get(JSON.stringify([projectId, userId]));
    try {
      const user = [projectId, userId] as const;
      await catchUp(tx, own, user, meaning);
      storeBuilt(tx, own, user);
      const { ranked, results } = own.search(read);
      await addFound(tx, read, ranked, results);
      return { items: results.items(), ...own.meaningUsed(meaning) };
    } finally {
      tx.indexes.dropOldest();
    }
  },
};

/** Stores a user's search index after the call, so that the user's first search is fast. */
export const storeSnapshotOf: ReadOperation<{ owner: UserRef }, void> = {
  async run(tx, { owner }) {
    const user = [owner.projectId, owner.userId] as const;
    // The thread keeps the indexes of users who search.
    const cached = tx.indexes.create();
    await catchUp(tx, cached, user, await presentModel.run(tx));
    storeBuilt(tx, cached, user, true);
  },
};

/** Updates the index to what the read transaction sees. See `complete` for the deadline. */
async function catchUp(
  tx: Tx,
  cached: CachedIndex,
  user: User,
  model: { modelId: number; dims: number } | null,
): Promise<void> {
  const row = (await readUser(tx, user)) ?? noUser;
  // A lower change number means that the user was erased and created again.
  if (row.lastChange < cached.lastChange) cached.clear();
  if (row.snapshotChange !== cached.snapshotChange) {
    // mutate-ignore constant: one change sooner
    Object.assign(cached, { snapshotChange: row.snapshotChange, unstored: 0 });
  }
  // mutate-ignore operand: affects only speed
  if (cached.lastChange === -1 && row.memories >= minMemories) await restore(tx, cached, user);
  await applyChanges(tx, cached, user, row.lastChange);
  if (cached.index.size !== row.memories) await removeDeleted(tx, cached, user);
  if (model !== null) await catchUpVectors(tx, cached.vectorsOf(model), user, row.embeddedChange);
}

/** Reads vectors in parts where they are stored in parts, and otherwise row by row. */
async function catchUpVectors(
  tx: Tx,
  own: CachedVectors,
  user: User,
  embeddedChange: number,
): Promise<void> {
  while (own.change < embeddedChange) {
    const part = await nextPart(tx, user, own, embeddedChange);
    if (part !== null && part.bytes !== null) {
      own.table.putColumns(part.bytes);
      own.change = part.upTo;
      continue;
    }
    const batch = await nextChange(tx, 'memories', user, own.change);
    const beyond = part?.after === own.change ? part.upTo : part?.after;
    const bound = Math.min(batch ?? embeddedChange, beyond ?? embeddedChange);
    own.add(await readVectors(tx, user, own, bound), bound);
  }
}

function readUser(tx: Tx, user: User): Promise<UserRow | undefined> {
  return tx.one<UserRow>(
    `SELECT memories, last_change AS "lastChange", embedded_change AS "embeddedChange",
       snapshot_change AS "snapshotChange" FROM users
     WHERE project_id = $1 AND user_id = $2`,
    user,
  );
}

/**
 * Applies the changes in batches. `before` is the change up to which the index was complete at the
 * beginning: of the memories that are not new since, those with a new result of their task count.
 */
async function applyChanges(
  tx: Tx,
  cached: CachedIndex,
  user: User,
  lastChange: number,
): Promise<void> {
  cached.beginUpdate();
  const before = cached.lastChange;
  while (cached.lastChange < lastChange) {
    const from = cached.lastChange;
    const bounds = await Promise.all([
      nextChange(tx, 'memories', user, from),
      nextChange(tx, 'tasks', user, from),
    ]);
    const upTo = Math.min(lastChange, ...bounds.filter((bound) => bound !== null));
    await applyRows(tx, cached, user, await readChanged(tx, user, { from, upTo, before }));
    cached.complete(upTo);
  }
}

/** Returns the change that ends a batch; null if few changes are left. */
async function nextChange(
  tx: Tx,
  table: 'memories' | 'tasks',
  user: User,
  from: number,
): Promise<number | null> {
  const row = await tx.one<{ change: number }>(
    `SELECT last_change AS change FROM ${table}
     WHERE project_id = CAST($1 AS bigint) AND user_id = CAST($2 AS text)
       AND last_change > CAST($3 AS bigint)
     ORDER BY last_change LIMIT 1 OFFSET ${rowsPerBatch - 1}`,
    [...user, from],
  );
  return row?.change ?? null;
}

/** A memory is searchable unless it has an indexing task that is not complete. */
const columns = `m.id, m.created_at AS "createdAt", m.occurred_at AS "occurredAt", m.metadata,
  (t.state IS NULL OR t.state = 'complete') AS "isSearchable", m.last_change AS "memoryChange",
  CASE WHEN m.bytes <= ${largeBytes} THEN m.content END AS content`;
const ofUser = (table: string) => `${table}.project_id = CAST($1 AS bigint)
  AND ${table}.user_id = CAST($2 AS text) AND ${table}.last_change > CAST($3 AS bigint)
  AND ${table}.last_change <= CAST($4 AS bigint)`;

function readChanged(
  tx: Tx,
  user: User,
  { from, upTo, before }: { from: number; upTo: number; before: number },
): Promise<Changed[]> {
  return tx.all<Changed>(
    `SELECT ${columns} FROM ${memoriesWithTasks}
     WHERE ${ofUser('m')}
     UNION ALL
     SELECT ${columns} FROM tasks AS t JOIN memories AS m ON ${isTaskOf}
     WHERE ${ofUser('t')} AND m.last_change <= CAST($5 AS bigint)`,
    [...user, from, upTo, before],
  );
}

async function applyRows(tx: Tx, cached: CachedIndex, user: User, rows: Changed[]): Promise<void> {
  const large: Changed[] = [];
  for (const row of rows) {
    const { content } = row;
    if (content === null) large.push(row);
    else cached.apply({ ...row, content });
  }
  for (let start = 0; start < large.length; start += readAtOnce) {
    const some = large.slice(start, start + readAtOnce);
    const contents = await Promise.all(some.map(({ id }) => readContent(tx, ...user, id)));
    for (const [index, row] of some.entries()) {
      cached.apply({ ...row, content: contents[index] ?? '' });
    }
  }
}

/**
 * Removes from the index the memories that are no longer in the database. It contains all others,
 * so that a range with as many memories in the database has lost none.
 */
async function removeDeleted(tx: Tx, cached: CachedIndex, user: User): Promise<void> {
  const { size } = cached.index;
  const starts = Array.from(
    { length: Math.ceil(size / memoriesPerRange) },
    (_, at) => at * memoriesPerRange,
  );
  const deleted = await Promise.all(
    starts.map((start) =>
      deletedIn(tx, cached, user, [start, Math.min(start + memoriesPerRange, size)]),
    ),
  );
  for (const id of deleted.flat()) cached.remove(id);
}

/** Returns the deleted memories of the range, whose bounds are positions in the index. */
async function deletedIn(
  tx: Tx,
  { index }: CachedIndex,
  user: User,
  [start, end]: readonly [number, number],
): Promise<string[]> {
  const ordinals = [start, end - 1];
  const range = [...user, ...ordinals.flatMap((at) => [index.timeAt(at), index.idAt(at)])];
  const counted = await tx.one<{ memories: number }>(
    `SELECT count(*) AS memories FROM memories WHERE ${inRange}`,
    range,
  );
  if (counted?.memories === end - start) return [];
  const rows = await tx.all<{ id: string }>(`SELECT id FROM memories WHERE ${inRange}`, range);
  const existing = new Set(rows.map(({ id }) => id));
  const ids = Array.from({ length: end - start }, (_, at) => index.idAt(start + at));
  return ids.filter((id) => !existing.has(id));
}

const inRange = `project_id = CAST($1 AS bigint) AND user_id = CAST($2 AS text)
  AND (created_at, id) >= (CAST($3 AS bigint), $4) AND (created_at, id) <= (CAST($5 AS bigint), $6)`;

function readVectors(
  tx: Tx,
  user: User,
  { change, modelId }: { change: number; modelId: number },
  upTo: number,
): Promise<StoredVectors[]> {
  return tx.all<StoredVectors>(
    `SELECT m.id, v.change, v.data
     FROM memories AS m JOIN vectors AS v ON v.project_id = m.project_id
       AND v.user_id = m.user_id AND v.memory_id = m.id
     WHERE ${ofUser('m')} AND v.model_id = CAST($5 AS bigint) AND v.change = m.last_change`,
    [...user, change, upTo, modelId],
  );
}
