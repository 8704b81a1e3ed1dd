import type { Database, Statement } from 'bun:sqlite';
import { deletedBody } from '../../../memory/responses.ts';
import { type CopyDatabase, type CopySide, createSide, type Query } from '../../copy/side.ts';
import {
  columnName,
  columnsOf,
  type Row,
  type StoredTable,
  type TableName,
  type Value,
} from '../../copy/tables.ts';
import { lockDatabase } from '../lock.ts';
import { isUnfinishedCopy, migrate } from '../migrate.ts';
import { assertExists, canonicalPath } from '../path.ts';
import { keepFilesPrivate, openForWriting } from '../settings.ts';

/** A running task is copied as waiting, and its current attempt is not counted. */
const tasks = {
  from: 'tasks',
  expressions: {
    memoryId: `(SELECT m.id FROM memories AS m
      WHERE m.project_id = t.project_id AND m.row_id = t.memory_row_id)`,
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
  memories: { from: 'memories', keys: ['row_id'], large: 'content' },
  // Copied in queue order.
  pending_tasks: {
    ...tasks,
    where: 't.run_at IS NOT NULL',
    keys: ['run_at', 'project_id', 'accepted_at', 'task_id'],
  },
  ended_tasks: { ...tasks, where: 't.run_at IS NULL', keys: ['task_id'] },
  idempotency_keys: {
    from: 'idempotency_keys',
    keys: ['row_id'],
    large: 'body',
    expressions: {
      memoryUserId: `(SELECT m.user_id FROM memories AS m
        WHERE m.project_id = t.project_id AND m.id = t.memory_id)`,
    },
  },
};

const insertTask = insertInto('tasks', 'pending_tasks');

const inserts: Record<TableName, string> = {
  uptime: `${insertInto('maintenance', 'uptime')} ON CONFLICT DO UPDATE SET value = excluded.value`,
  projects: insertInto('projects', 'projects'),
  api_keys: insertInto('api_keys', 'api_keys'),
  users: insertInto('users', 'users'),
  memories: insertInto('memories', 'memories'),
  pending_tasks: insertTask,
  ended_tasks: insertTask,
  idempotency_keys: insertInto('idempotency_keys', 'idempotency_keys'),
};

/** A task's memoryId is replaced by a row id, and a response's memoryUserId is not stored. */
function insertInto(into: string, table: TableName): string {
  const names = columnsOf(table);
  const at = (name: string) => `?${names.indexOf(name) + 1}`;
  const cells = names.flatMap((name) => {
    if (name === 'memoryUserId') return [];
    if (name !== 'memoryId' || into !== 'tasks') return [[columnName(name), at(name)]];
    const memory = `project_id = ${at('projectId')} AND id = ${at('memoryId')}`;
    return [['memory_row_id', `(SELECT row_id FROM memories WHERE ${memory})`]];
  });
  const columns = cells.map(([column]) => column).join(', ');
  return `INSERT INTO ${into} (${columns}) VALUES (${cells.map(([, value]) => value).join(', ')})`;
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
    async insert(table, rows, _before, last) {
      const text = inserts[table];
      const names = columnsOf(table);
      db.transaction(() => {
        for (const row of rows) {
          const values = toStored(row);
          runOne({ text, values: names.map((name) => values[name] ?? null) });
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

/**
 * If a response's memory has been deleted, the SQLite backend stores a replacement body instead of
 * null.
 */
function toStored(row: Row): Row {
  return row.body === null ? { ...row, body: deletedBodyOf(row) } : row;
}

function deletedBodyOf({ memoryId }: Row): string | null {
  return typeof memoryId === 'string' ? deletedBody(memoryId) : null;
}
