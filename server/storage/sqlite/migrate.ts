import type { Database } from 'bun:sqlite';
import threads from './sql/002-threads.sql' with { type: 'text' };

/** Version 1 was never released: its files are refused below. */
const firstVersion = 2;

/** Numbered from `firstVersion`, append-only: a released migration is never changed. */
const migrations: string[] = [threads];

/** Says that a file is ours, in SQLite's own header: "memo" in ASCII. */
const applicationId = 0x6d656d6f;

/** The version of the schema that this program reads and writes. */
export const schemaVersion = firstVersion + migrations.length - 1;

/** Brings the schema up to date; safe when two processes start at once. */
export function migrate(db: Database, path: string): void {
  // An administrator's command must not wait for the writes of a running server just to look.
  if (!assertOurs(db, path).behind) return;
  db.run('BEGIN IMMEDIATE');
  try {
    const { schema, behind } = assertOurs(db, path);
    for (const sql of migrations.slice(Math.max(0, schema - firstVersion + 1))) db.run(sql);
    if (behind) {
      db.run(`PRAGMA application_id = ${applicationId}`);
      db.run(`PRAGMA user_version = ${schemaVersion}`);
    }
    db.run('COMMIT');
  } catch (error) {
    if (db.inTransaction) db.run('ROLLBACK');
    throw error;
  }
}

/**
 * Which schema the file has (0 for an empty one), and whether this program would bring it up to
 * date. Throws an Error that says what to do where the file is newer or older than the program can
 * read, or is not ours.
 */
export function assertOurs(db: Database, path: string): { schema: number; behind: boolean } {
  const tables = db.prepare('SELECT count(*) AS n FROM sqlite_schema').get() as { n: number };
  if (pragma(db, 'application_id') !== applicationId && tables.n > 0) {
    throw new Error(`${path} is a database of another program. Choose another file.`);
  }
  const schema = pragma(db, 'user_version');
  if (schema > schemaVersion) {
    throw new Error(
      `${path} was written by a newer version of this program (schema ${schema}, this one knows ` +
        `${schemaVersion}). Upgrade the program, or restore a backup made by this version.`,
    );
  }
  if (schema > 0 && schema < firstVersion) {
    throw new Error(
      `${path} was written by a version before the first release (schema ${schema}). Export it ` +
        'with that version ("memory export"), and import the result into a new database.',
    );
  }
  return { schema, behind: schema < schemaVersion };
}

function pragma(db: Database, name: 'user_version' | 'application_id'): number {
  const row = db.prepare(`PRAGMA ${name}`).get() as Record<string, number>;
  return row[name] ?? 0;
}
