import type { Database } from 'bun:sqlite';
import { changesNothing } from '../../../memory/changes.ts';
import {
  acceptedResponse,
  type ImportOutcome,
  importedResponse,
} from '../../../memory/responses.ts';
import { isExpired } from '../../../memory/visibility.ts';
import { reportProgress } from '../../../threads/serve.ts';
import type {
  Batch,
  ImportedMemory,
  NewMemory,
  StoredResponse,
  Write,
  WriteResult,
} from '../../storage.ts';
import { prepareInsert } from '../row.ts';
import type { IdempotencyKeys } from './idempotency.ts';
import type { Origins } from './origins.ts';
import type { QueueLimit } from './queue-limit.ts';
import type { Removal } from './removal.ts';
import type { TaskWrites } from './tasks.ts';
import type { Users } from './users.ts';

type Accept = Write & { records: NewMemory[]; batch: Batch | null };
type Import = Write & { memories: ImportedMemory[]; batch: Batch };

export type RecordWrites = {
  acceptRecords(write: Accept): WriteResult;
  importMemories(write: Import): WriteResult;
};

export function createRecordWrites(
  db: Database,
  parts: {
    keys: IdempotencyKeys;
    users: Users;
    origins: Origins;
    tasks: TaskWrites;
    removal: Removal;
    queueLimit: QueueLimit;
  },
): RecordWrites {
  const { keys, users, origins, tasks, removal, queueLimit } = parts;
  const insert = prepareInsert(db);
  const known = db.prepare<
    { rowId: number; userId: string; isExpired: number },
    (number | string)[]
  >(
    `SELECT row_id AS rowId, user_id AS userId, ifnull(expires_at <= ?, 0) AS isExpired
     FROM memories WHERE project_id = ? AND id = ?`,
  );

  /** Returns a function that assigns each user one change number for the whole write. */
  function changesOf(projectId: number) {
    const changes = new Map<string, number>();
    return (userId: string) => {
      const lastChange = changes.get(userId) ?? users.recordChange(projectId, userId, 0);
      changes.set(userId, lastChange);
      return lastChange;
    };
  }

  function countAdded(projectId: number, added: Map<string, number>): void {
    for (const [userId, count] of added) users.recordChange(projectId, userId, count);
  }

  function accept({ projectId, at, records, batch }: Accept): StoredResponse {
    queueLimit(projectId, records.length);
    const changeOf = changesOf(projectId);
    const added = new Map<string, number>();
    const inserted: number[] = [];
    const queued = new Set<string>();
    const ids = records.map((record) => {
      reportProgress();
      const { userId } = record;
      const found = origins.find(projectId, record, at);
      const { id } = found ?? record;
      // A memory that this write has queued is processing, although its task may not exist yet.
      if (found !== null && !queued.has(id) && changesNothing(found, record)) return id;
      queued.add(id);
      const lastChange = changeOf(userId);
      if (found === null) {
        const row = { version: 1, lastChange, createdAt: at, updatedAt: at };
        inserted.push(insert(projectId, record, row));
        added.set(userId, (added.get(userId) ?? 0) + 1);
        return id;
      }
      origins.replace(projectId, found.rowId, record, { lastChange, at });
      tasks.queue(projectId, userId, found.rowId, at);
      return id;
    });
    tasks.queueInserted(inserted, at);
    countAdded(projectId, added);
    return acceptedResponse(records, ids, queued, batch);
  }

  function importOne(
    { projectId, at }: Import,
    memory: ImportedMemory,
    changeOf: (userId: string) => number,
  ): ImportOutcome {
    const { id, userId, status, version, createdAt, updatedAt } = memory;
    const found = known.get(at, projectId, id);
    if (found !== null && found.isExpired === 0) return 'skipped';
    // Delete an expired memory with the same id if maintenance has not deleted it yet.
    if (found !== null) removal.remove(projectId, found.userId, [{ rowId: found.rowId, id }]);
    if (origins.find(projectId, memory, at) !== null) return 'conflict';
    if (isExpired(memory, at)) return 'imported';
    const row = { version, lastChange: changeOf(userId), createdAt, updatedAt };
    const rowId = insert(projectId, memory, row);
    if (status === 'processing') tasks.queue(projectId, userId, rowId, at);
    if (status === 'failed') tasks.addFailed(projectId, userId, rowId, updatedAt);
    return 'imported';
  }

  function importAll(write: Import): StoredResponse {
    const { projectId, at, memories, batch } = write;
    queueLimit(projectId, memories.filter(({ status }) => status === 'processing').length);
    const changeOf = changesOf(projectId);
    const added = new Map<string, number>();
    const outcomes = memories.map((memory) => {
      reportProgress();
      const outcome = importOne(write, memory, changeOf);
      const { userId } = memory;
      if (outcome === 'imported' && !isExpired(memory, at))
        added.set(userId, (added.get(userId) ?? 0) + 1);
      return outcome;
    });
    countAdded(projectId, added);
    return importedResponse(outcomes, batch);
  }

  return {
    acceptRecords: (write) => keys.once(write, () => accept(write)),
    importMemories: (write) => keys.once(write, () => importAll(write)),
  };
}
