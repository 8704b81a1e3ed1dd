import type { Database } from 'bun:sqlite';
import { progressTable, unfinishedCopy } from '../copy/side.ts';
import schema from './sql/001-schema.sql' with { type: 'text' };
import vectorParts from './sql/002-vector-parts.sql' with { type: 'text' };
import tasksInOrder from './sql/003-tasks-in-order.sql' with { type: 'text' };
import modelCentre from './sql/004-model-centre.sql' with { type: 'text' };

/** Earlier versions have never been released; their files are rejected below. */
const firstVersion = 5;

/** The migrations from `firstVersion` on. Append only: a released migration is never changed. */
const migrations: string[] = [schema, vectorParts, tasksInOrder, modelCentre];

/** Identifies our files in the SQLite header: "memo" in ASCII. */
const applicationId = 0x6d656d6f;

export const schemaVersion = firstVersion + migrations.length - 1;

/** Brings the schema up to date. Two processes may run this at the same time. */
export function migrate(db: Database, path: string): void {
  // An admin command that only reads must not wait for a running server's writes.
  if (!assertOurs(db, path).behind) return;
  const upgrade = db.transaction(() => {
    const { schema, behind } = assertOurs(db, path);
    for (const sql of migrations.slice(Math.max(0, schema - firstVersion + 1))) db.run(sql);
    if (!behind) return;
    db.run(`PRAGMA application_id = ${applicationId}`);
    db.run(`PRAGMA user_version = ${schemaVersion}`);
  });
  upgrade.immediate();
}

/**
 * Returns the schema version of the file (0 if it is empty) and whether it needs a migration.
 * Throws an Error with advice if the file is too new or too old, or belongs to another program.
 */
export function assertOurs(db: Database, path: string): { schema: number; behind: boolean } {
  const tables = db.prepare('SELECT count(*) AS n FROM sqlite_schema').get() as { n: number };
  if (pragma(db, 'application_id') !== applicationId && tables.n > 0) {
    throw new Error(`${path} is the database of another program. Choose another file.`);
  }
  const schema = pragma(db, 'user_version');
  if (schema > schemaVersion) {
    throw new Error(
      `${path} was written by a newer version of this program (schema ${schema}; this version ` +
        `supports ${schemaVersion}). Upgrade the program, or restore a backup made by this version.`,
    );
  }
  if (schema > 0 && schema < firstVersion) {
    throw new Error(
      `${path} was written by a pre-release version (schema ${schema}). Export it ` +
        'with that version ("memory export"), and import the result into a new database.',
    );
  }
  return { schema, behind: schema < schemaVersion };
}

export function isUnfinishedCopy(db: Database): boolean {
  return db.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(progressTable) !== null;
}

export function assertFinished(db: Database, path: string): void {
  if (!isUnfinishedCopy(db)) return;
  throw unfinishedCopy(path);
}

function pragma(db: Database, name: 'user_version' | 'application_id'): number {
  const row = db.prepare(`PRAGMA ${name}`).get() as Record<string, number>;
  return row[name] ?? 0;
}
