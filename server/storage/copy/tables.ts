import type { Value } from '../engine.ts';
import { firstBytes } from '../operations/columns.ts';
import type { CopySide, Row, Statement } from './side.ts';

/*
 * The tables that `memory migrate` copies. Both databases have the same columns, so that a row is
 * read, stored and compared as it is.
 */

/**
 * `keys` identify a row and define the order, which is that of an index; `postgresKeys` take their
 * place on PostgreSQL. `size` is the size of a row that can be large.
 */
type CopiedTable = {
  name: string;
  keys: readonly string[];
  postgresKeys?: readonly string[];
  size?: string;
  where?: string;
};

/** Referenced tables come first. */
export const copiedTables: readonly CopiedTable[] = [
  { name: 'maintenance', keys: ['name'], where: `name = 'uptime'` },
  { name: 'projects', keys: ['project_id'] },
  { name: 'api_keys', keys: ['id'] },
  { name: 'users', keys: ['project_id', 'user_id'] },
  { name: 'memories', keys: ['project_id', 'user_id', 'created_at', 'id'], size: 'bytes' },
  { name: 'tasks', keys: ['memory_id', 'project_id', 'user_id', 'kind'] },
  { name: 'models', keys: ['model_id'] },
  {
    name: 'vectors',
    keys: ['project_id', 'user_id', 'memory_id'],
    postgresKeys: ['memory_id', 'project_id', 'user_id'],
  },
  { name: 'snapshots', keys: ['project_id', 'user_id'], size: 'octet_length(data)' },
  {
    name: 'vector_parts',
    keys: ['project_id', 'user_id', 'last_change'],
    size: 'octet_length(data)',
  },
  {
    name: 'idempotency_keys',
    keys: ['project_id', 'scope', 'key'],
    size: 'octet_length(body)',
  },
];

const batchRows = 512;
/** The maximum amount of text in a batch, except for a single larger row. */
const batchBytes = 4 * 1024 * 1024;

/** The values of the keys of a row, or null to begin with the first row. */
export type Position = Value[] | null;

/** Returns the next rows, in the order of the keys, and none at the end of the table. */
export async function readBatch(
  side: CopySide,
  table: CopiedTable,
  after: Position,
): Promise<{ rows: Row[]; last: Position }> {
  const { size } = table;
  const keys = keysOn(side, table);
  let limit = batchRows;
  if (size !== undefined) {
    const sizes = await readRows(side, table, `${size} AS bytes`, after);
    const counted = sizes.map(({ bytes }) => ({ bytes: Number(bytes) }));
    limit = firstBytes(counted, batchBytes).length;
  }
  const rows = await readRows(side, table, '*', after, limit);
  const last = rows.at(-1);
  return { rows, last: last === undefined ? after : keys.map((key) => last[key] ?? null) };
}

function keysOn({ kind }: CopySide, { keys, postgresKeys = keys }: CopiedTable) {
  return kind === 'postgres' ? postgresKeys : keys;
}

function readRows(
  side: CopySide,
  table: CopiedTable,
  columns: string,
  after: Position,
  limit = batchRows,
): Promise<Row[]> {
  const { name, where = 'true' } = table;
  const keys = keysOn(side, table);
  const order = keys.join(', ');
  const parameters = keys.map((_, index) => `$${index + 1}`).join(', ');
  const beyond = after === null ? '' : `AND (${order}) > (${parameters})`;
  const text = `SELECT ${columns} FROM ${name} WHERE ${where} ${beyond} ORDER BY ${order} LIMIT ${limit}`;
  return side.read(text, after ?? []);
}

export async function countRows(side: CopySide): Promise<number> {
  const counts = copiedTables.map(
    ({ name, where = 'true' }) => `(SELECT count(*) FROM ${name} WHERE ${where})`,
  );
  const [row] = await side.read(`SELECT ${counts.join(' + ')} AS rows`);
  return Number(row?.rows);
}

export function insert({ name }: CopiedTable, row: Row): Statement {
  const columns = Object.keys(row);
  const parameters = columns.map((_, index) => `$${index + 1}`).join(', ');
  // Even an empty database has a row for the uptime.
  const conflict = name === 'maintenance' ? 'ON CONFLICT (name) DO UPDATE SET value = $2' : '';
  const text = `INSERT INTO ${name} (${columns.join(', ')}) VALUES (${parameters}) ${conflict}`;
  return { text, values: Object.values(row) };
}

/** The number of rows, and the sum of the rows' hashes, which does not depend on the row order. */
export type Sum = { rows: number; sum: number };

const hashBytes = 6;

/** Adds the first 48 bits of the SHA-256 hash of the row, modulo 2^48. */
export function addRow({ rows, sum }: Sum, row: Row): Sum {
  const names = Object.keys(row).sort();
  const values = names.map((name) => {
    const value = row[name] ?? null;
    return [name, value instanceof Uint8Array ? value.toBase64() : value];
  });
  const hash = new Bun.CryptoHasher('sha256').update(JSON.stringify(values)).digest();
  return { rows: rows + 1, sum: (sum + hash.readUIntBE(0, hashBytes)) % 2 ** (8 * hashBytes) };
}
