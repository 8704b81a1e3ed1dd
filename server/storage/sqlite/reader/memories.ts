import type { Database } from 'bun:sqlite';
import { mayAccess } from '../../../memory/visibility.ts';
import type { StoredKey } from '../../key-storage.ts';
import { type StatusRow, statusOf } from '../../status.ts';
import type { Part, Read, StoredMemory, StoredStatus } from '../../storage.ts';
import {
  memoriesWithTasks,
  memoryColumns,
  notExpired,
  partColumns,
  partValues,
  statusColumn,
} from '../row.ts';

/**
 * Short reads by key, which the HTTP thread runs on its own connection. Calling another thread
 * would double their cost.
 */
export type KeyReads = {
  getMemory(read: Read & Part & { id: string }): StoredMemory | null;
  getStatus(read: Read & { id: string }): StoredStatus | null;
  /** Whether the status requires splitting a text that is too long for the HTTP thread. */
  mustCountLongText(read: Read & { id: string }): boolean;
  findKey(hash: string): StoredKey | null;
  listKeys(): StoredKey[];
  findProject(name: string): number | null;
  nextTaskAt(): number | null;
  lastBackupAt(): number | null;
};

const keyColumns = `k.id, p.name AS project, k.project_id AS projectId, k.name, k.prefix,
  k.last_four AS lastFour, k.user_id AS userId, k.read_only AS readOnly,
  k.metrics_only AS metricsOnly,
  k.created_at AS createdAt, k.expires_at AS expiresAt, k.last_used_at AS lastUsedAt,
  k.revoked_at AS revokedAt`;

/** Splitting 64 KiB into chunks takes about a millisecond. */
const longBytes = 64 * 1024;

const keysWithProjects = 'api_keys AS k JOIN projects AS p ON p.project_id = k.project_id';

type Flag = 'readOnly' | 'metricsOnly';
type KeyRow = Omit<StoredKey, Flag> & Record<Flag, number>;

export function createKeyReads(db: Database): KeyReads {
  const key = db.prepare<KeyRow, [string]>(
    `SELECT ${keyColumns} FROM ${keysWithProjects} WHERE k.hash = ?`,
  );
  const keys = db.prepare<KeyRow, []>(
    `SELECT ${keyColumns} FROM ${keysWithProjects} ORDER BY k.created_at, k.id`,
  );
  const project = db.prepare<{ id: number }, [string]>(
    'SELECT project_id AS id FROM projects WHERE name = ?',
  );
  const next = db.prepare<{ at: number }, []>(
    `SELECT run_at AS at FROM tasks WHERE run_at IS NOT NULL AND state = 'waiting'
     ORDER BY run_at LIMIT 1`,
  );
  const longText = db.prepare<{ one: 1 }, [number, string]>(
    `SELECT 1 AS one FROM ${memoriesWithTasks}
     WHERE m.project_id = +? AND m.id = +? AND t.task_id IS NULL
       AND octet_length(m.content) > ${longBytes}`,
  );
  const lastBackup = db.prepare<{ at: number }, []>(
    `SELECT value AS at FROM maintenance WHERE name = 'last_backup'`,
  );
  const status = prepareStatus(db);

  return {
    getMemory: prepareGet(db),
    getStatus: status,
    mustCountLongText: ({ projectId, id }) => longText.get(projectId, id) !== null,
    findKey(hash) {
      const row = key.get(hash);
      return row === null ? null : asKey(row);
    },
    listKeys: () => keys.all().map(asKey),
    findProject: (name) => project.get(name)?.id ?? null,
    nextTaskAt: () => next.get()?.at ?? null,
    lastBackupAt: () => lastBackup.get()?.at ?? null,
  };
}

function asKey({ readOnly, metricsOnly, ...key }: KeyRow): StoredKey {
  return { ...key, readOnly: readOnly === 1, metricsOnly: metricsOnly === 1 };
}

export function prepareGet(db: Database): KeyReads['getMemory'] {
  const select = <Values extends number[]>(columns: string) =>
    db.prepare<StoredMemory, [...Values, number, string, number]>(
      `SELECT ${columns} FROM ${memoriesWithTasks}
       WHERE m.project_id = +? AND m.id = +? AND ${notExpired}`,
    );
  const whole = select<[]>(memoryColumns);
  const part = select<[number, number]>(`${partColumns}, length(m.content) AS contentLength`);
  return ({ projectId, id, now, onlyUserId, range }) => {
    const found =
      range === undefined
        ? whole.get(projectId, id, now)
        : part.get(...partValues(range), projectId, id, now);
    return found !== null && mayAccess(onlyUserId, found) ? found : null;
  };
}

export function prepareStatus(db: Database): KeyReads['getStatus'] {
  // The chunks of a memory without a task are counted on request.
  const find = db.prepare<StatusRow, [number, string, number]>(
    `SELECT m.id AS memoryId, m.user_id AS userId, ${statusColumn},
       ifnull(t.chunks_complete, 0) AS chunksComplete, ifnull(t.chunks_total, 0) AS chunksTotal,
       iif(t.task_id IS NULL, m.content, NULL) AS savedContent,
       ifnull(t.attempts, 0) AS attempts, t.error_message AS errorMessage,
       m.created_at AS createdAt,
       max(m.updated_at, ifnull(t.updated_at, m.updated_at)) AS updatedAt
     FROM ${memoriesWithTasks} WHERE m.project_id = +? AND m.id = +? AND ${notExpired}`,
  );
  return ({ projectId, id, now, onlyUserId }) => {
    const row = find.get(projectId, id, now);
    return row !== null && mayAccess(onlyUserId, row) ? statusOf(row) : null;
  };
}
