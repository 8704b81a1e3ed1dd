import { MissingDatabaseError } from '../../errors.ts';
import { progressTable, unfinishedCopy } from '../copy/side.ts';
import { distribute, hasCitus, isDistributed } from './citus.ts';
import { type Connection, query, statement } from './connection.ts';
import { isConflict, stateOf } from './errors.ts';
import schema from './sql/001-schema.sql' with { type: 'text' };
import vectorParts from './sql/002-vector-parts.sql' with { type: 'text' };
import modelCentre from './sql/003-model-centre.sql' with { type: 'text' };

/** Earlier versions have never been released; their databases are rejected below. */
const firstVersion = 7;

/** The migrations from `firstVersion` on. Append only: a released migration is never changed. */
const migrations: string[] = [schema, vectorParts, modelCentre];

type Reading = Pick<Connection, 'run'>;

const tablesOf = (scripts: readonly string[]) =>
  scripts.flatMap((script) =>
    [...script.matchAll(/^CREATE (?:UNLOGGED )?TABLE (\w+)/gm)].map(([, name = '']) => name),
  );

export const tableNames = tablesOf(migrations);

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
  if (!create && (await readVersion(connection)) === 0) {
    throw new MissingDatabaseError('the database has no tables of this service; check the URL');
  }
  await assertServer(connection);
  for (let attempt = 1; ; attempt += 1) {
    try {
      if ((await readVersion(connection)) === schemaVersion) return;
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

async function assertServer(connection: Reading): Promise<void> {
  const [server] = await query(
    connection,
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
 * Returns the schema version, or 0 if there is no schema. Throws if the schema is newer than this
 * program, or older than the first release.
 */
export async function readVersion(connection: Reading): Promise<number> {
  if (!(await hasTable(connection, 'schema_versions'))) return 0;
  const [row] = await query(connection, maxVersion);
  const version = Number(row?.version);
  if (version > schemaVersion) {
    throw new Error(
      `the database was written by a newer version of this program (schema ${version}; this ` +
        `version supports ${schemaVersion}). Upgrade the program.`,
    );
  }
  if (version > 0 && version < firstVersion) {
    throw new Error(
      `the database was written by a pre-release version (schema ${version}). Export it with ` +
        'that version ("memory export"), and import the result into a new database.',
    );
  }
  return version;
}

export function isUnfinishedCopy(connection: Reading): Promise<boolean> {
  return hasTable(connection, progressTable);
}

export async function assertFinished(connection: Reading): Promise<void> {
  if (await isUnfinishedCopy(connection)) throw unfinishedCopy('the database');
}

async function hasTable(connection: Reading, name: string): Promise<boolean> {
  const text = 'SELECT to_regclass($1) IS NOT NULL AS "isThere"';
  const [found] = await query(connection, text, [name]);
  return found?.isThere === true;
}

async function migrateOnce(connection: Connection): Promise<void> {
  const session = await connection.session();
  const run = (...statements: Parameters<typeof session.run>[0]) =>
    session.run(statements, migrateWithinMs);
  try {
    const [, , , [row] = []] = await run(
      statement('BEGIN'),
      statement(
        `CREATE TABLE IF NOT EXISTS schema_versions
           (version int4 PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())`,
      ),
      statement('LOCK TABLE schema_versions IN EXCLUSIVE MODE'),
      statement(maxVersion),
    );
    const stored = Number(row?.version);
    for (let version = Math.max(firstVersion, stored + 1); version <= schemaVersion; version += 1) {
      await run({ text: migrations[version - firstVersion] ?? '', values: [], isScript: true });
      await run(statement('INSERT INTO schema_versions (version) VALUES ($1::int4)', [version]));
    }
    // Only new tables are distributed. To distribute tables with rows, the operator has to stop all
    // servers.
    const areOthers = stored === 0 ? hasCitus : isDistributed;
    if (await areOthers((text) => query(session, text))) {
      const created = tablesOf(migrations.slice(Math.max(0, stored + 1 - firstVersion)));
      await run({ text: distribute(created), values: [], isScript: true });
    }
    await run(statement('COMMIT'));
  } catch (error) {
    await session.settle([statement('ROLLBACK')]).catch(() => {});
    throw error;
  }
}
