/*
 * What `memory migrate` copies, in terms that both backends share. Each backend says how it stores
 * these columns, and adds what follows from them: row ids, buckets, hashes.
 */

export type Value = string | number | null;
export type Row = Record<string, Value>;
export type Type = 'integer' | 'text';

const task = {
  projectId: 'integer',
  kind: 'text',
  payload: 'text',
  memoryId: 'text',
  userId: 'text',
  state: 'text',
  acceptedAt: 'integer',
  runAt: 'integer',
  updatedAt: 'integer',
  attempts: 'integer',
  leaseToken: 'integer',
  chunksComplete: 'integer',
  chunksTotal: 'integer',
  errorMessage: 'text',
  lastChange: 'integer',
} as const;

/**
 * In the order of copying: what is referred to comes first. A task that was running is copied as if
 * it had been released, and the body of a stored response is null if its memory was deleted.
 */
export const tables = {
  uptime: { name: 'text', value: 'integer' },
  projects: { projectId: 'integer', name: 'text' },
  api_keys: {
    projectId: 'integer',
    id: 'text',
    name: 'text',
    hash: 'text',
    prefix: 'text',
    lastFour: 'text',
    userId: 'text',
    readOnly: 'integer',
    createdAt: 'integer',
    expiresAt: 'integer',
    lastUsedAt: 'integer',
    revokedAt: 'integer',
  },
  users: { projectId: 'integer', userId: 'text', memories: 'integer', lastChange: 'integer' },
  memories: {
    projectId: 'integer',
    id: 'text',
    userId: 'text',
    type: 'text',
    metadata: 'text',
    source: 'text',
    externalId: 'text',
    version: 'integer',
    lastChange: 'integer',
    occurredAt: 'integer',
    expiresAt: 'integer',
    createdAt: 'integer',
    updatedAt: 'integer',
    content: 'text',
  },
  pending_tasks: task,
  ended_tasks: task,
  idempotency_keys: {
    projectId: 'integer',
    scope: 'text',
    key: 'text',
    fingerprint: 'text',
    status: 'integer',
    body: 'text',
    memoryId: 'text',
    memoryUserId: 'text',
    version: 'integer',
    storedUptime: 'integer',
    createdAt: 'integer',
  },
} as const satisfies Record<string, Record<string, Type>>;

export type TableName = keyof typeof tables;

export const tableNames = Object.keys(tables) as TableName[];

/** The columns by which a table is ordered, with their types. */
export type Keys = Record<string, Type>;

/** How a backend stores a table. */
export type StoredTable = {
  from: string;
  where?: string;
  keys: Keys;
  /** How columns are read that are not stored under their name. `t` is the table. */
  expressions?: Record<string, string>;
  /** Further columns, which only the backend's `asCopied` uses. */
  further?: string[];
  /** A column that may be large. */
  large?: string;
};

export function columnsOf(table: TableName): [name: string, type: Type][] {
  return Object.entries(tables[table]);
}

/** `lastChange` is stored as `last_change`. */
export function columnName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The number of rows, and the sum of their hashes, which does not depend on their order. */
export type Sum = { rows: number; sum: number };

const hashBytes = 6;

/** Adds the first 48 bits of the SHA-256 of the row's canonical JSON, modulo 2^48. */
export function addRow({ rows, sum }: Sum, table: TableName, row: Row): Sum {
  const names = [...columnsOf(table).map(([name]) => name), 'misplaced'];
  const json = JSON.stringify(names.map((name) => row[name] ?? null));
  const hash = new Bun.CryptoHasher('sha256').update(json).digest();
  return { rows: rows + 1, sum: (sum + hash.readUIntBE(0, hashBytes)) % 2 ** (8 * hashBytes) };
}
