import type { CopyDatabase } from '../../copy/reads.ts';
import { type CopySide, createSide } from '../../copy/side.ts';
import {
  columnName,
  columnsOf,
  isText,
  type Row,
  type TableName,
  tableNames,
} from '../../copy/tables.ts';
import { type Connection, createConnection } from '../connection.ts';
import { cannotOpen } from '../errors.ts';
import { isUnfinishedCopy, migrate } from '../migrate.ts';
import { insertLocations } from '../row.ts';
import { overRows, query, type Statement, type Value } from '../statement.ts';
import { inTransaction } from '../transaction.ts';
import { derive, derivedColumns, isMisplaced, stored } from './copy-tables.ts';

/** The deadline for statements. Counting all rows of a large database is slow. */
const deadlineMs = 10 * 60_000;

/**
 * Connects to the database for a copy. Throws an Error with advice if a server is running, or if
 * the tables do not exist and `create` is false.
 */
export async function openCopySide(
  url: string,
  { create }: { create: boolean },
): Promise<CopySide> {
  const connection = createConnection({ url, purpose: 'migrate' });
  try {
    await migrate(connection, { create });
    await assertUnused(connection);
    return createSide(copyDatabase(connection));
  } catch (error) {
    connection.close();
    throw cannotOpen(error);
  }
}

/** Finds a server's sessions. Their application names differ from this session's by one word. */
const isServed = `SELECT 1 AS one FROM pg_stat_activity
  WHERE datname = current_database() AND application_name IN (
    replace(current_setting('application_name'), 'migrate', 'server'),
    replace(current_setting('application_name'), 'migrate', 'writer'))
  LIMIT 1`;
/** The sessions of a server that has just exited may take a moment to end. */
const sessionsEndWithinMs = 1_000;

/** Throws if a server has sessions or holds the cleanup turn (see writer/maintenance.ts). */
async function assertUnused(connection: Connection): Promise<void> {
  const [turn] = await query<{ seconds: number }>(
    connection.run,
    `SELECT ceil(extract(epoch FROM held_until - clock_timestamp()))::float8 AS seconds
     FROM maintenance WHERE name = 'turn' AND held_until > clock_timestamp()`,
  );
  if (turn !== undefined) throw isRunning(`wait ${turn.seconds} seconds`);
  const deadline = performance.now() + sessionsEndWithinMs;
  while ((await query(connection.run, isServed)).length > 0) {
    if (performance.now() > deadline)
      throw isRunning('find its sessions in pg_stat_activity and end them');
    await Bun.sleep(50);
  }
}

function isRunning(advice: string): Error {
  return new Error(
    'a server is using the database. Stop it and run the command again. If it was killed, ' +
      `${advice}.`,
  );
}

function copyDatabase(connection: Connection): CopyDatabase {
  return {
    stored,
    parameter: (number, column) => `$${number}::${typeOf(column)}`,
    integer: (expression) => `(${expression})::float8`,
    // Cast to text, because the client would parse a value of type json.
    jsonArray: (expressions) => `json_build_array(${expressions})::text`,
    isUnfinished: () => isUnfinishedCopy(connection.run),
    assertUnused: () => assertUnused(connection),
    async read(query) {
      const [rows = []] = await asCopyError(connection.run([query], deadlineMs));
      return rows as Row[];
    },
    run: (...queries) => runTogether(connection, queries),
    async insert(table, rows, before, last) {
      const values = rows.map((row, index) => valuesOf(table, row, before + index + 1));
      const placed = table === 'memories' ? insertLocations(rows.flatMap(locationOf)) : [];
      await runTogether(connection, [...placed, ...inserts[table](values), last]);
    },
    asCopied: (table, row) => (isMisplaced(table, row) ? { ...row, misplaced: 'yes' } : row),
    close: () => connection.close(),
  };
}

function runTogether(connection: Connection, queries: readonly Statement[]): Promise<void> {
  const work = async () => ({ last: [...queries], result: undefined });
  return asCopyError(inTransaction(connection, work, { deadlineMs }));
}

async function asCopyError<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw cannotOpen(error);
  }
}

type Insert = ReturnType<typeof overRows>;

const inserts = Object.fromEntries(tableNames.map((name) => [name, insertInto(name)])) as Record<
  TableName,
  Insert
>;

function insertInto(table: TableName): Insert {
  const copied = copiedColumns(table);
  const derived = Object.entries(derivedColumns[table] ?? {});
  const names = [...copied.map(columnName), ...derived.map(([name]) => name)].join(', ');
  const conflict = 'ON CONFLICT (name) DO UPDATE SET value = excluded.value';
  return overRows(
    [...copied.map(typeOf), ...derived.map(([, type]) => type)],
    (values) => `INSERT INTO ${stored[table].from} (${names}) ${values}
      ${table === 'uptime' ? conflict : ''}`,
  );
}

function typeOf(column: string): string {
  if (column === 'readOnly' || column === 'metricsOnly') return 'bool';
  return isText(column) ? 'text' : 'int8';
}

/** Returns the columns that are stored unchanged. memoryUserId is stored as a bucket. */
function copiedColumns(table: TableName): string[] {
  return columnsOf(table).filter((name) => name !== 'memoryUserId');
}

function valuesOf(table: TableName, row: Row, place: number): Value[] {
  const derived = derive(table, row, place);
  return [
    ...copiedColumns(table).map((name) => row[name] ?? null),
    ...Object.keys(derivedColumns[table] ?? {}).map((name) => derived[name] ?? null),
  ];
}

/** Returns the row for memory_locations if the id contains another bucket; otherwise, no rows. */
function locationOf(row: Row): Value[][] {
  const { bucket = null, id_bucket: named = null } = derive('memories', row, 0);
  return named === null ? [] : [[row.projectId ?? null, named, row.id ?? null, bucket]];
}
