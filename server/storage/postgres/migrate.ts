import { MissingDatabaseError } from '../../errors.ts';
import { progressTable, unfinishedCopy } from '../copy/side.ts';
import { distribute, hasCitus } from './citus.ts';
import type { Connection } from './connection.ts';
import { isConflict, stateOf } from './errors.ts';
import tables from './sql/002-tables.sql' with { type: 'text' };
import vectors from './sql/003-vectors.sql' with { type: 'text' };
import failedTasks from './sql/004-failed-tasks.sql' with { type: 'text' };
import metricsKeys from './sql/005-metrics-keys.sql' with { type: 'text' };
import { query, type Run, statement } from './statement.ts';
import { inTransaction } from './transaction.ts';

/** Versions are numbered as in the SQLite schema, whose version 1 has never been released. */
const firstVersion = 2;

/** The migrations from `firstVersion` on. Append only: a released migration is never changed. */
const migrations: string[] = [tables, vectors, failedTasks, metricsKeys];

/** The names of all tables that the migrations create. */
export const tableNames = migrations.flatMap((script) =>
  [...script.matchAll(/^CREATE (?:UNLOGGED )?TABLE (\w+)/gm)].map(([, name = '']) => name),
);

export const schemaVersion = firstVersion + migrations.length - 1;

const maxVersion = 'SELECT coalesce(max(version), 0) AS version FROM schema_versions';
const minServerVersion = 15;
const attempts = 20;
const pauseMs = 100;
const migrateWithinMs = 60_000;

/**
 * Brings the schema up to date in one transaction. Several servers may run this at the same time.
 * Throws an Error with advice if the database cannot be used, or if `create` is false and there are
 * no tables.
 */
export async function migrate(connection: Connection, { create = true } = {}): Promise<void> {
  if (!create && (await readVersion(connection.run)) === 0) {
    throw new MissingDatabaseError('the database has no tables of this service; check the URL');
  }
  await assertServer(connection.run);
  for (let attempt = 1; ; attempt += 1) {
    try {
      if ((await readVersion(connection.run)) === schemaVersion) return;
      await migrateOnce(connection);
      return;
    } catch (error) {
      // Retry if another server is creating the same tables.
      const isRace = isConflict(error) || /^(42P07|42710|55P03)$/.test(stateOf(error));
      if (!isRace || attempt === attempts) throw error;
      await Bun.sleep(pauseMs);
    }
  }
}

async function assertServer(run: Run): Promise<void> {
  const [server] = await query(
    run,
    `SELECT current_setting('server_version_num')::int4 / 10000 AS version,
       current_setting('server_encoding') AS encoding`,
  );
  if (Number(server?.version) < minServerVersion) {
    throw new Error(
      `the database server is too old: PostgreSQL ${minServerVersion} or newer is required`,
    );
  }
  if (server?.encoding !== 'UTF8') {
    throw new Error(
      `the database encoding is ${server?.encoding}, but UTF8 is required; ` +
        "create a database with ENCODING 'UTF8'",
    );
  }
}

/**
 * Returns the schema version, or 0 if there is no schema. Throws if the schema is newer than
 * this program.
 */
export async function readVersion(run: Run): Promise<number> {
  if (!(await hasTable(run, 'schema_versions'))) return 0;
  const [row] = await query(run, maxVersion);
  const version = Number(row?.version);
  if (version > schemaVersion) {
    throw new Error(
      `the database was written by a newer version of this program (schema ${version}; this ` +
        `version supports ${schemaVersion}). Upgrade the program.`,
    );
  }
  return version;
}

export function isUnfinishedCopy(run: Run): Promise<boolean> {
  return hasTable(run, progressTable);
}

export async function assertFinished(run: Run): Promise<void> {
  if (await isUnfinishedCopy(run)) throw unfinishedCopy('the database');
}

async function hasTable(run: Run, name: string): Promise<boolean> {
  const [found] = await query(run, 'SELECT to_regclass($1) IS NOT NULL AS "isThere"', name);
  return found?.isThere === true;
}

async function migrateOnce(connection: Connection): Promise<void> {
  await inTransaction(
    connection,
    async (run) => {
      const [, , [row] = []] = await run([
        statement(
          `CREATE TABLE IF NOT EXISTS schema_versions
             (version int4 PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())`,
        ),
        statement('LOCK TABLE schema_versions IN EXCLUSIVE MODE'),
        statement(maxVersion),
      ]);
      const stored = Number(row?.version);
      const from = Math.max(firstVersion, stored + 1);
      for (let version = from; version <= schemaVersion; version += 1) {
        await run([
          { text: migrations[version - firstVersion] ?? '', values: [], isScript: true },
          statement('INSERT INTO schema_versions (version) VALUES ($1::int4)', version),
        ]);
      }
      // Only new tables are distributed. To distribute tables with rows, the operator has to stop
      // all servers.
      const isNew = stored === 0 && (await hasCitus(run));
      return { last: isNew ? [distribute] : [], result: null };
    },
    { deadlineMs: migrateWithinMs },
  );
}
