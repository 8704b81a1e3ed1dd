/*
 * The tables that `memory migrate` copies, in a form that both backends share. Each backend defines
 * how it stores the columns, and adds derived columns such as row ids, buckets and hashes.
 */

export type Value = string | number | null;
export type Row = Record<string, Value>;

const task = `projectId kind payload memoryId userId state acceptedAt runAt updatedAt attempts
  leaseToken chunksComplete chunksTotal errorMessage lastChange`;

/**
 * The copied tables and their columns, in copy order: referenced tables come first. A running task
 * is copied as if it had been released. The body of a stored response is null if its memory has
 * been deleted.
 */
const columns = {
  uptime: 'name value',
  projects: 'projectId name',
  api_keys: `projectId id name hash prefix lastFour userId readOnly metricsOnly createdAt
    expiresAt lastUsedAt revokedAt`,
  users: 'projectId userId memories lastChange',
  memories: `projectId id userId type metadata source externalId version lastChange occurredAt
    expiresAt createdAt updatedAt content`,
  pending_tasks: task,
  ended_tasks: task,
  idempotency_keys: `projectId scope key fingerprint status body memoryId memoryUserId version
    storedUptime createdAt`,
};

/** The text columns. All other columns are integers. */
const texts = `name id hash prefix last_four user_id type metadata source external_id content kind
  payload memory_id state error_message scope key fingerprint body memory_user_id`.split(/\s+/);

export type TableName = keyof typeof columns;

export const tableNames = Object.keys(columns) as TableName[];

const lists = new Map(tableNames.map((table) => [table, columns[table].split(/\s+/)]));

export function columnsOf(table: TableName): string[] {
  return lists.get(table) ?? [];
}

export function columnName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function isText(name: string): boolean {
  return texts.includes(columnName(name));
}

/** How a backend stores a table. Expressions refer to the table as `t`. */
export type StoredTable = {
  from: string;
  where?: string;
  /** The columns that identify a row and define the order. */
  keys: string[];
  /** Expressions for columns that are not stored under their own names. */
  expressions?: Record<string, string>;
  further?: string[];
  large?: string;
};

/** The number of rows, and the sum of the rows' hashes, which does not depend on the row order. */
export type Sum = { rows: number; sum: number };

const hashBytes = 6;

/** Adds the first 48 bits of the SHA-256 hash of the row's canonical JSON, modulo 2^48. */
export function addRow({ rows, sum }: Sum, table: TableName, row: Row): Sum {
  const values = [...columnsOf(table), 'misplaced'].map((name) => row[name] ?? null);
  const hash = new Bun.CryptoHasher('sha256').update(JSON.stringify(values)).digest();
  return { rows: rows + 1, sum: (sum + hash.readUIntBE(0, hashBytes)) % 2 ** (8 * hashBytes) };
}
