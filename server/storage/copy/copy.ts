import { type CopySide, progressTable, type Statement } from './side.ts';
import {
  addRow,
  copiedTables,
  countRows,
  insert,
  type Position,
  readBatch,
  type Sum,
} from './tables.ts';

/*
 * Copies a database to the other backend and compares the two databases. The target's states are:
 *
 *   empty -> unfinished -> finished (after the comparison)
 *
 * Each batch is stored in the same transaction as the new progress, so an interrupted copy resumes
 * after the last stored batch.
 */

/**
 * Called with the number of processed rows and the total number of rows. If the function throws,
 * the copy or the comparison stops.
 */
export type ReportRows = (done: number, total: number) => Promise<void>;

/** The rows of one table and project. `project` is null for rows that belong to no project. */
export type Comparison = {
  table: string;
  project: string | null;
  source: Sum;
  target: Sum;
  isEqual: boolean;
};

/** The last position and the number of copied rows, by table. */
type Progress = Record<string, { last: Position; rows: number }>;

/**
 * Copies the rows that the target does not have yet and returns their number. Throws an Error if
 * the target is neither empty nor an unfinished copy of this source.
 */
export async function copyRows(
  source: CopySide,
  target: CopySide,
  report: ReportRows,
): Promise<number> {
  const progress = await resume(source, target);
  const before = Object.values(progress).reduce((sum, { rows }) => sum + rows, 0);
  const total = (await countRows(source)) - before;
  let copied = 0;
  for (const table of copiedTables) {
    for (;;) {
      const known = progress[table.name] ?? { last: null, rows: 0 };
      const { rows, last } = await readBatch(source, table, known.last);
      if (rows.length === 0) break;
      progress[table.name] = { last, rows: known.rows + rows.length };
      await target.write(...rows.map((row) => insert(table, row)), setProgress(progress));
      copied += rows.length;
      await report(copied, total);
    }
  }
  return copied;
}

function setProgress(progress: Progress): Statement {
  const values = [JSON.stringify(progress)];
  return { text: `UPDATE ${progressTable} SET progress = $1`, values };
}

async function resume(source: CopySide, target: CopySide): Promise<Progress> {
  if (await source.isUnfinished()) {
    throw new Error(
      'the source is an unfinished copy of another database; complete that copy first',
    );
  }
  const id = await sourceId(source);
  if (await target.isUnfinished()) return readProgress(target, id);
  if ((await numberOf(target, 'copied_from')) === id) {
    throw new Error(
      'the target is already a complete copy of this source; use --verify to compare them',
    );
  }
  await assertEmpty(target);
  await target.write(
    { text: `CREATE TABLE ${progressTable} (source bigint, progress text)`, values: [] },
    { text: `INSERT INTO ${progressTable} VALUES ($1, '{}')`, values: [id] },
  );
  return {};
}

async function readProgress(target: CopySide, id: number): Promise<Progress> {
  const [row] = await target.read(`SELECT source, progress FROM ${progressTable}`);
  if (row?.source === id) return JSON.parse(String(row.progress));
  throw new Error(
    'the target is an unfinished copy of another database; specify an empty database',
  );
}

async function assertEmpty(target: CopySide): Promise<void> {
  for (const { name, where } of copiedTables) {
    // Even an empty database has a row for the uptime.
    if (where !== undefined) continue;
    if ((await target.read(`SELECT 1 AS one FROM ${name} LIMIT 1`)).length > 0) {
      throw new Error(`the target already has rows in ${name}; specify an empty database`);
    }
  }
}

/** Returns a random id that identifies the source database. The id is stored on first use. */
async function sourceId(source: CopySide): Promise<number> {
  const known = await numberOf(source, 'database_id');
  if (known !== null) return known;
  const made = crypto.getRandomValues(Buffer.alloc(6)).readUIntBE(0, 6);
  await source.write(setNumber('database_id', made));
  return made;
}

async function numberOf(side: CopySide, name: string): Promise<number | null> {
  const [row] = await side.read('SELECT value FROM maintenance WHERE name = $1', [name]);
  return row === undefined ? null : Number(row.value);
}

function setNumber(name: string, value: number): Statement {
  const text = `INSERT INTO maintenance (name, value) VALUES ($1, $2)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
  return { text, values: [name, value] };
}

/** Marks the copy as finished, so that servers can open the target. */
export async function finishCopy(source: CopySide, target: CopySide): Promise<void> {
  // A server that started during the copy may have accepted writes that were not copied.
  await source.assertUnused();
  const copied = setNumber('copied_from', await sourceId(source));
  await target.write({ text: `DROP TABLE ${progressTable}`, values: [] }, copied);
}

export async function compare(
  source: CopySide,
  target: CopySide,
  report: ReportRows,
): Promise<Comparison[]> {
  const total = (await countRows(source)) + (await countRows(target));
  let done = 0;
  const count = async (rows: number) => {
    done += rows;
    await report(done, total);
  };
  const [contents, copied] = [await sumsOf(source, count), await sumsOf(target, count)];
  const groups = new Map([...contents.groups, ...copied.groups]);
  const none: Sum = { rows: 0, sum: 0 };
  return [...groups].map(([key, { table, projectId }]) => {
    const project = contents.names.get(projectId) ?? copied.names.get(projectId) ?? null;
    const [one, other] = [contents.sums.get(key) ?? none, copied.sums.get(key) ?? none];
    const isEqual = one.rows === other.rows && one.sum === other.sum;
    return { table, project, source: one, target: other, isEqual };
  });
}

async function sumsOf(side: CopySide, count: (rows: number) => Promise<void>) {
  const sums = new Map<string, Sum>();
  const groups = new Map<string, { table: string; projectId: number }>();
  const names = new Map<number, string>();
  for (const table of copiedTables) {
    let { rows, last } = await readBatch(side, table, null);
    while (rows.length > 0) {
      for (const row of rows) {
        const projectId = Number(row.project_id ?? 0);
        const key = `${table.name} ${projectId}`;
        groups.set(key, { table: table.name, projectId });
        sums.set(key, addRow(sums.get(key) ?? { rows: 0, sum: 0 }, row));
        if (table.name === 'projects') names.set(projectId, String(row.name));
      }
      await count(rows.length);
      ({ rows, last } = await readBatch(side, table, last));
    }
  }
  return { sums, groups, names };
}
