import type { CopySide, Progress } from './side.ts';
import { addRow, type Sum, type TableName, tableNames } from './tables.ts';

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
  table: TableName;
  project: string | null;
  source: Sum;
  target: Sum;
  isEqual: boolean;
};

/**
 * Copies the rows that the target does not have yet and returns their number. Throws an Error if
 * the target is neither empty nor an unfinished copy of this source.
 */
export async function copyRows(
  source: CopySide,
  target: CopySide,
  report: ReportRows,
): Promise<number> {
  let progress = await resume(source, target);
  const before = Object.values(progress).reduce((sum, { rows }) => sum + rows, 0);
  const total = (await source.countRows()) - before;
  let copied = 0;
  for (const table of tableNames) {
    for (;;) {
      const last = progress[table];
      const batch = await source.read(table, last?.position ?? null);
      if (batch === null) break;
      const rows = (last?.rows ?? 0) + batch.rows.length;
      progress = { ...progress, [table]: { position: batch.position, rows } };
      await target.write(table, batch.rows, progress);
      copied += batch.rows.length;
      await report(copied, total);
    }
  }
  return copied;
}

async function resume(source: CopySide, target: CopySide): Promise<Progress> {
  if ((await source.state()).unfinished !== null) {
    throw new Error(
      'the source is an unfinished copy of another database; complete that copy first',
    );
  }
  const id = await source.sourceId();
  const { unfinished, copiedFrom, filled } = await target.state();
  if (unfinished !== null) {
    if (unfinished.source === id) return unfinished.progress;
    throw new Error(
      'the target is an unfinished copy of another database; specify an empty database',
    );
  }
  if (copiedFrom === id) {
    throw new Error(
      'the target is already a complete copy of this source; use --verify to compare them',
    );
  }
  if (filled !== null) {
    throw new Error(`the target already has rows in ${filled}; specify an empty database`);
  }
  await target.begin(id);
  return {};
}

export async function compare(
  source: CopySide,
  target: CopySide,
  report: ReportRows,
): Promise<Comparison[]> {
  const total = (await source.countRows()) + (await target.countRows());
  let done = 0;
  const [contents, copied] = [await sumsOf(source, count), await sumsOf(target, count)];
  const places = new Map([...contents.places, ...copied.places]);
  const none: Sum = { rows: 0, sum: 0 };
  return [...places].map(([key, { table, projectId }]) => {
    const project = contents.names.get(projectId) ?? copied.names.get(projectId) ?? null;
    const [one, other] = [contents.sums.get(key) ?? none, copied.sums.get(key) ?? none];
    const isEqual = one.rows === other.rows && one.sum === other.sum;
    return { table, project, source: one, target: other, isEqual };
  });

  async function count(rows: number): Promise<void> {
    done += rows;
    await report(done, total);
  }
}

async function sumsOf(side: CopySide, count: (rows: number) => Promise<void>) {
  const sums = new Map<string, Sum>();
  const places = new Map<string, { table: TableName; projectId: number }>();
  const names = new Map<number, string>();
  for (const table of tableNames) {
    let batch = await side.read(table, null);
    while (batch !== null) {
      for (const row of batch.rows) {
        const projectId = Number(row.projectId ?? 0);
        const key = `${table} ${projectId}`;
        places.set(key, { table, projectId });
        sums.set(key, addRow(sums.get(key) ?? { rows: 0, sum: 0 }, table, row));
        if (table === 'projects') names.set(projectId, String(row.name));
      }
      await count(batch.rows.length);
      batch = await side.read(table, batch.position);
    }
  }
  return { sums, places, names };
}
