import { bucketOf } from '../../../bucket.ts';
import {
  addVectors,
  type ChangedMemory,
  type HeldIndex,
  type HeldVectors,
  IndexUpdate,
  newHeldIndex,
  removeMissing,
  vectorsOf,
} from '../../held-indexes.ts';
import { query, type Run, type Statement, statement } from '../statement.ts';

/**
 * Brings the in-memory search index of one user up to date. `catchUp` reads the rows that changed
 * since the last update, in one snapshot. A new index is built in the same way, from all rows.
 */

type User = { projectId: number; userId: string };
type UserRow = { memories: number; lastChange: number; embeddedChange: number };
type SearchModel = { modelId: number; dims: number };

const noUser: UserRow = { memories: 0, lastChange: 0, embeddedChange: -1 };

/** The number of changes to read in the first round trip. There are rarely more changes. */
const firstRows = 16;
/** The number of rows in the first fetch from a cursor. It is low because memories may be large. */
const firstFetched = 2;
/** The approximate amount of text per fetch, in UTF-16 units. */
const fetchedUnits = 1_000_000;
const maxRows = 2_000;
/** The cost of indexing a row without text, expressed in UTF-16 units. */
const unitsOfRow = 100;

type ChangedRow = ChangedMemory & { change: number };

/** A memory is searchable unless it has an indexing task that is not complete. */
const columns = `m.id, m.created_at::float8 AS "createdAt", m.occurred_at::float8 AS "occurredAt",
  m.content, m.metadata,
  (t.state IS NULL OR t.state = 'complete') AS "isSearchable",
  m.last_change::float8 AS "memoryChange"`;
const indexTask = `t.project_id = m.project_id AND t.bucket = m.bucket AND t.memory_id = m.id
  AND t.kind = 'index'`;
const ofUser = (table: string) => `${table}.project_id = $1::int8 AND ${table}.bucket = $2::int2
  AND ${table}.user_id = $3 AND ${table}.last_change > $4::int8`;

const ofMemories = `SELECT ${columns}, m.last_change::float8 AS change
  FROM memories AS m LEFT JOIN tasks AS t ON ${indexTask} WHERE ${ofUser('m')}`;
/** Selects the unchanged memories whose task has changed. */
const ofTasks = `SELECT ${columns}, t.last_change::float8 AS change
  FROM tasks AS t JOIN memories AS m ON ${indexTask}
  WHERE ${ofUser('t')} AND m.last_change <= $4::int8`;

/** Reads a few changes without a cursor, because a cursor's query is planned each time. */
const firstChanges = `(${ofMemories} ORDER BY m.last_change LIMIT ${firstRows})
  UNION ALL (${ofTasks} ORDER BY t.last_change LIMIT ${firstRows})
  ORDER BY change LIMIT ${firstRows}`;
const declareChanges = `DECLARE changes NO SCROLL CURSOR FOR
  ${ofMemories} UNION ALL ${ofTasks} ORDER BY change`;

/** Updates the index to the state of the snapshot. See IndexUpdate for the deadline. */
export async function catchUp(
  run: Run,
  held: HeldIndex,
  user: User,
  model: SearchModel | null,
): Promise<void> {
  const place = [user.projectId, bucketOf(user.userId), user.userId];
  const isNew = held.lastChange < 0;
  const [[found] = [], ...changes] = (await run([
    statement(
      `SELECT memories::float8 AS memories, last_change::float8 AS "lastChange",
         embedded_change::float8 AS "embeddedChange" FROM users
       WHERE project_id = $1::int8 AND bucket = $2::int2 AND user_id = $3`,
      ...place,
    ),
    ...(isNew ? cursorOver(held, place) : [statement(firstChanges, ...place, held.lastChange)]),
  ])) as [UserRow[], ...ChangedRow[][]];
  const row = found ?? noUser;
  let rows = changes.at(-1) ?? [];
  // A lower change number means that the user was erased and created again.
  const isOther = row.lastChange < held.lastChange;
  if (isOther) Object.assign(held, newHeldIndex());
  const needsCursor = isOther || (!isNew && rows.length === firstRows);
  if (needsCursor) {
    rows = ((await run(cursorOver(held, place))).at(-1) ?? []) as ChangedRow[];
  }
  await applyChanges(run, held, rows, isNew || needsCursor);
  held.lastChange = row.lastChange;
  if (held.index.size !== row.memories) await removeDeleted(run, held, place);
  if (model !== null) await readVectors(run, vectorsOf(held, model), place, row.embeddedChange);
}

function cursorOver({ lastChange }: HeldIndex, place: readonly (string | number)[]): Statement[] {
  return [statement(declareChanges, ...place, lastChange), fetchRows(firstFetched)];
}

function fetchRows(count: number): Statement {
  return statement(`FETCH FORWARD ${count} FROM changes`);
}

/** Applies the first rows and, if the cursor is open, the cursor's remaining rows. */
async function applyChanges(
  run: Run,
  held: HeldIndex,
  first: ChangedRow[],
  isCursorOpen: boolean,
): Promise<void> {
  const update = new IndexUpdate(held);
  let wanted = isCursorOpen ? firstFetched : Number.POSITIVE_INFINITY;
  let rows = first;
  let applied = held.lastChange;
  for (;;) {
    for (const row of rows) {
      // A change can consist of several rows and is complete only when the next change begins.
      if (row.change > applied) update.complete(applied);
      applied = row.change;
      update.apply(row);
    }
    if (rows.length < wanted) return;
    const units = rows.reduce((sum, { content }) => sum + content.length + unitsOfRow, 0);
    wanted = rowsFor(units / rows.length);
    rows = ((await run([fetchRows(wanted)]))[0] ?? []) as ChangedRow[];
  }
}

function rowsFor(unitsEach: number): number {
  // Round down to a power of two, because each count is a separate prepared statement.
  const count = 2 ** Math.floor(Math.log2(fetchedUnits / unitsEach));
  return Math.min(maxRows, Math.max(1, count));
}

/** Removes from the index the memories that are no longer in the database. */
async function removeDeleted(
  run: Run,
  held: HeldIndex,
  place: readonly (string | number)[],
): Promise<void> {
  const ids = await query<{ id: string }>(
    run,
    `SELECT id FROM memories WHERE project_id = $1::int8 AND bucket = $2::int2 AND user_id = $3`,
    ...place,
  );
  removeMissing(held, new Set(ids.map(({ id }) => id)));
}

/** Reads the vectors of the changes that have been embedded since the last update. */
async function readVectors(
  run: Run,
  held: HeldVectors,
  place: readonly (string | number)[],
  embeddedChange: number,
): Promise<void> {
  if (held.change === embeddedChange) return;
  const rows = await query<{ id: string; change: number; data: string }>(
    run,
    `SELECT m.id, v.change::float8 AS change, encode(v.data, 'base64') AS data
     FROM memories AS m JOIN vectors AS v ON v.project_id = m.project_id AND v.bucket = m.bucket
       AND v.memory_id = m.id
     WHERE m.project_id = $1::int8 AND m.bucket = $2::int2 AND m.user_id = $3
       AND m.last_change > $4::int8 AND m.last_change <= $5::int8
       AND v.model_id = $6::int8 AND v.change = m.last_change`,
    ...place,
    ...[held.change, embeddedChange, held.modelId],
  );
  const stored = rows.map((row) => ({ ...row, data: Buffer.from(row.data, 'base64') }));
  addVectors(held, stored, embeddedChange);
}
