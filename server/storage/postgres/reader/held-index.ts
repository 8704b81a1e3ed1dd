import { bucketOf } from '../../../bucket.ts';
import {
  type ChangedMemory,
  type HeldIndex,
  IndexUpdate,
  newHeldIndex,
  removeMissing,
  unitsOf,
} from '../../held-indexes.ts';
import { type Statement, statement } from '../statement.ts';
import type { Transaction } from '../transaction.ts';

/*
 * Brings the in-memory search index of one user up to date. In one snapshot, `catchUp` reads the
 * rows that changed since the last update. A new index is built in the same way, from all rows.
 */

type User = { projectId: number; userId: string };
type UserRow = { memories: number; lastChange: number };

/** The number of rows to fetch in the first round trip. There are rarely more changes. */
const firstRows = 16;
/** The same for a new index. The number is lower because the texts may be large. */
const firstRowsOfAll = 2;
/** The approximate amount of text per fetch, in UTF-16 units. */
const fetchedUnits = 1_000_000;
const maxRows = 2_000;

/** A memory is searchable once its indexing task is complete. A saved memory has no task. */
const columns = `m.id, m.created_at::float8 AS "createdAt", m.content, m.metadata,
  (t.state IS NULL OR t.state = 'complete') AS "isSearchable"`;
const indexTask = `t.project_id = m.project_id AND t.bucket = m.bucket AND t.memory_id = m.id
  AND t.kind = 'index'`;
const ofUser = (table: string) => `${table}.project_id = $1::int8 AND ${table}.bucket = $2::int2
  AND ${table}.user_id = $3 AND ${table}.last_change > $4::int8`;

/** The second part of the UNION selects unchanged memories whose task has changed. */
const changes = `SELECT ${columns}, m.last_change::float8 AS change
    FROM memories AS m LEFT JOIN tasks AS t ON ${indexTask} WHERE ${ofUser('m')}
  UNION ALL
  SELECT ${columns}, t.last_change::float8 AS change
    FROM tasks AS t JOIN memories AS m ON ${indexTask}
    WHERE ${ofUser('t')} AND m.last_change <= $4::int8
  ORDER BY change`;
/** A cursor is planned each time, so it is declared only if there are more rows than these. */
const firstChanges = (count: number) => `${changes} LIMIT ${count}`;
const declareChanges = `DECLARE changes NO SCROLL CURSOR FOR ${changes}`;

/** Updates the index to the state of the snapshot. See IndexUpdate for the deadline. */
export async function catchUp(tx: Transaction, held: HeldIndex, user: User): Promise<void> {
  const place = [user.projectId, bucketOf(user.userId), user.userId];
  const wanted = held.lastChange < 0 ? firstRowsOfAll : firstRows;
  const [[found] = [], first = []] = (await tx.run(
    statement(
      `SELECT memories::float8 AS memories, last_change::float8 AS "lastChange" FROM users
       WHERE project_id = $1::int8 AND bucket = $2::int2 AND user_id = $3`,
      ...place,
    ),
    statement(firstChanges(wanted), ...place, held.lastChange),
  )) as [UserRow[], ChangedMemory[]];
  const row = found ?? { memories: 0, lastChange: 0 };
  // The user was erased and created again, so the index is rebuilt.
  const isOther = row.lastChange < held.lastChange;
  if (isOther) Object.assign(held, newHeldIndex());
  if (isOther || first.length === wanted) {
    await applyAll(tx, held, place, isOther ? firstRowsOfAll : rowsLike(first));
  } else {
    const update = new IndexUpdate(held);
    for (const one of first) update.apply(one);
  }
  held.lastChange = row.lastChange;
  if (held.index.size !== row.memories) await removeDeleted(tx, held, place);
}

async function applyAll(
  tx: Transaction,
  held: HeldIndex,
  place: readonly (string | number)[],
  count: number,
): Promise<void> {
  const update = new IndexUpdate(held);
  const declare = statement(declareChanges, ...place, held.lastChange);
  let wanted = count;
  let rows = ((await tx.run(declare, fetchRows(wanted)))[1] ?? []) as ChangedMemory[];
  for (;;) {
    for (const row of rows) update.apply(row);
    if (rows.length < wanted) return;
    wanted = rowsLike(rows);
    rows = ((await tx.run(fetchRows(wanted)))[0] ?? []) as ChangedMemory[];
  }
}

function fetchRows(count: number): Statement {
  return statement(`FETCH FORWARD ${count} FROM changes`);
}

/** The number of rows of this size that fit into one fetch. */
function rowsLike(rows: readonly ChangedMemory[]): number {
  return rowsFor(rows.reduce((sum, row) => sum + unitsOf(row), 0) / rows.length);
}

function rowsFor(unitsEach: number): number {
  // Round down to a power of two, because each count is a separate prepared statement.
  const count = 2 ** Math.floor(Math.log2(fetchedUnits / unitsEach));
  return Math.min(maxRows, Math.max(1, count));
}

/**
 * Removes deleted memories from the index. A deletion leaves no changed row, so deletions are
 * detected by the number of memories.
 */
async function removeDeleted(
  tx: Transaction,
  { index }: HeldIndex,
  place: readonly (string | number)[],
): Promise<void> {
  const [ids = []] = (await tx.run(
    statement(
      `SELECT id FROM memories WHERE project_id = $1::int8 AND bucket = $2::int2 AND user_id = $3`,
      ...place,
    ),
  )) as { id: string }[][];
  removeMissing(index, new Set(ids.map(({ id }) => id)));
}
