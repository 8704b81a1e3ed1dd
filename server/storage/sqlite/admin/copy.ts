import type { Database, Statement } from 'bun:sqlite';
import { deletedBody } from '../../../memory/responses.ts';
import type { CopyDatabase, Query } from '../../copy/reads.ts';
import { type CopySide, createSide } from '../../copy/side.ts';
import {
  columnName,
  columnsOf,
  type Row,
  type StoredTable,
  type TableName,
  type Value,
} from '../../copy/tables.ts';
import { bytesOf, externalKey } from '../../operations/columns.ts';
import { lockDatabase } from '../lock.ts';
import { isUnfinishedCopy, migrate } from '../migrate.ts';
import { assertExists, canonicalPath } from '../path.ts';
import { keepFilesPrivate, openForWriting } from '../settings.ts';

/** A running task is copied as waiting, and its current attempt is not counted. */
const tasks = {
  from: 'tasks',
  expressions: {
    payload: `'{}'`,
    state: `iif(t.state = 'running', 'waiting', t.state)`,
    attempts: `t.attempts - (t.state = 'running')`,
  },
};

const stored: Record<TableName, StoredTable> = {
  uptime: {
    from: `(SELECT 'uptime' AS name,
      ifnull((SELECT value FROM maintenance WHERE name = 'uptime'), 0) AS value)`,
    keys: ['name'],
  },
  projects: { from: 'projects', keys: ['project_id'] },
  api_keys: { from: 'api_keys', keys: ['created_at', 'id'] },
  users: { from: 'users', keys: ['project_id', 'user_id'] },
  memories: { from: 'memories', keys: ['rowid'], large: 'content' },
  // Copied in queue order.
  pending_tasks: {
    ...tasks,
    where: 't.run_at IS NOT NULL',
    keys: ['run_at', 'ordinal', 'project_id', 'accepted_at', 'memory_id', 'kind'],
  },
  ended_tasks: {
    ...tasks,
    where: 't.run_at IS NULL',
    keys: ['rowid'],
  },
  idempotency_keys: {
    from: 'idempotency_keys',
    keys: ['rowid'],
    large: 'body',
    expressions: {
      memoryUserId: `(SELECT m.user_id FROM memories AS m
        WHERE m.project_id = t.project_id AND m.id = t.memory_id)`,
    },
  },
};

const inserts: Record<TableName, string> = {
  uptime: `${insertInto('maintenance', 'uptime')} ON CONFLICT DO UPDATE SET value = excluded.value`,
  projects: insertInto('projects', 'projects'),
  api_keys: insertInto('api_keys', 'api_keys'),
  users: insertInto('users', 'users'),
  memories: insertInto('memories', 'memories'),
  pending_tasks: insertInto('tasks', 'pending_tasks'),
  ended_tasks: insertInto('tasks', 'ended_tasks'),
  idempotency_keys: insertInto('idempotency_keys', 'idempotency_keys'),
};

/** Inserts a row as `toStored` returns it. */
function insertInto(into: string, table: TableName): string {
  const names = storedColumns(table);
  const values = names.map((_, index) => `?${index + 1}`);
  return `INSERT INTO ${into} (${names.map(columnName).join(', ')}) VALUES (${values.join(', ')})`;
}

/** The stored columns that are derived from the copied ones, and those that are not stored. */
function storedColumns(table: TableName): string[] {
  const derived: { [Table in TableName]?: string[] } = {
    users: ['bytes'],
    memories: ['bytes', 'firstChange', 'externalKey'],
    pending_tasks: ['ordinal'],
    ended_tasks: ['ordinal'],
  };
  const copied = columnsOf(table).filter((name) => name !== 'memoryUserId' && name !== 'payload');
  return [...copied, ...(derived[table] ?? [])];
}

/**
 * Locks the database and opens it for a copy. Throws an Error with advice if a server is running,
 * or if the file does not exist and `create` is false.
 */
export function openCopySide(name: string, { create }: { create: boolean }): CopySide {
  if (!create) assertExists(name);
  keepFilesPrivate();
  const path = canonicalPath(name);
  const lock = lockDatabase(path, 'Stop it and run the command again.');
  let db: Database | null = null;
  try {
    db = openForWriting(path, { create });
    migrate(db, path);
    return createSide(copyDatabase(db, () => lock.release()));
  } catch (error) {
    db?.close(true);
    lock.release();
    throw error;
  }
}

function copyDatabase(db: Database, release: () => void): CopyDatabase {
  const statements = new Map<string, Statement<Row, Value[]>>();

  function runOne({ text, values }: Query): Row[] {
    const known = statements.get(text) ?? db.prepare<Row, Value[]>(text);
    statements.set(text, known);
    return known.all(...values);
  }

  return {
    stored,
    parameter: (number) => `?${number}`,
    integer: (expression) => expression,
    jsonArray: (expressions) => `json_array(${expressions})`,
    isUnfinished: async () => isUnfinishedCopy(db),
    // This process holds the file's lock, so no server can be running.
    assertUnused: async () => {},
    read: async (query) => runOne(query),
    async run(...queries) {
      db.transaction(() => queries.forEach(runOne)).immediate();
    },
    async insert(table, rows, before, last) {
      const text = inserts[table];
      const names = storedColumns(table);
      db.transaction(() => {
        for (const [index, row] of rows.entries()) {
          const values = toStored(table, row, before + index);
          runOne({ text, values: names.map((name) => values[name] ?? null) });
          if (table === 'memories') runOne(addBytes(values));
        }
        runOne(last);
      }).immediate();
    },
    asCopied: (_, row) => (row.body === deletedBodyOf(row) ? { ...row, body: null } : row),
    close() {
      db.close(true);
      release();
    },
  };
}

/** The users' bytes are added up with their memories. */
function addBytes({ bytes = 0, projectId = null, userId = null }: Row): Query {
  const text = 'UPDATE users SET bytes = bytes + ?1 WHERE project_id = ?2 AND user_id = ?3';
  return { text, values: [bytes, projectId, userId] };
}

/**
 * Adds the derived columns. If a response's memory has been deleted, the SQLite backend stores a
 * replacement body instead of null.
 */
function toStored(table: TableName, row: Row, ordinal: number): Row {
  if (table === 'users') return { ...row, bytes: 0 };
  if (table === 'pending_tasks' || table === 'ended_tasks') return { ...row, ordinal };
  if (table === 'idempotency_keys' && row.body === null) {
    return { ...row, body: deletedBodyOf(row) };
  }
  if (table !== 'memories') return row;
  const textOf = (name: string) => (typeof row[name] === 'string' ? row[name] : null);
  const texts = { content: textOf('content') ?? '', metadata: textOf('metadata') ?? '' };
  const key = externalKey({ source: textOf('source'), externalId: textOf('externalId') });
  return {
    ...row,
    bytes: bytesOf(texts),
    firstChange: row.lastChange ?? null,
    externalKey: key,
  };
}

function deletedBodyOf({ memoryId }: Row): string | null {
  return typeof memoryId === 'string' ? deletedBody(memoryId) : null;
}
