import type { Database } from 'bun:sqlite';
import { noSuchMemory } from '../../../errors.ts';
import { changedMemory, changesNothing } from '../../../memory/changes.ts';
import { splitChunks } from '../../../memory/chunks.ts';
import {
  deletedResponse,
  replacedResponse,
  savedResponse,
  updatedResponse,
} from '../../../memory/responses.ts';
import { mayAccess } from '../../../memory/visibility.ts';
import { assertVersion } from '../../refusals.ts';
import type {
  MemoryChanges,
  NewMemory,
  NewResponse,
  StoredMemory,
  StoredResponse,
  Write,
  WriteResult,
} from '../../storage.ts';
import { memoriesWithTasks, memoryColumns, prepareInsert } from '../row.ts';
import type { IdempotencyKeys } from './idempotency.ts';
import type { Origins } from './origins.ts';
import type { Removal } from './removal.ts';
import type { Users } from './users.ts';

type Located = { rowId: number; userId: string; version: number };
type Update = Write & {
  id: string;
  changes: MemoryChanges;
  expectedVersion: number | null;
};

export type MemoryWrites = {
  saveMemory(write: Write & { memory: NewMemory }): WriteResult;
  updateMemory(write: Update): WriteResult;
  deleteMemory(write: Omit<Update, 'changes'>): WriteResult;
};

export function createMemoryWrites(
  db: Database,
  parts: { keys: IdempotencyKeys; users: Users; origins: Origins; removal: Removal },
): MemoryWrites {
  const { keys, users, origins, removal } = parts;
  const insert = prepareInsert(db);
  const locate = db.prepare<Located, [number, string, number]>(
    `SELECT row_id AS rowId, user_id AS userId, version FROM memories
     WHERE project_id = ? AND id = ? AND (expires_at IS NULL OR expires_at > ?)`,
  );
  const read = db.prepare<StoredMemory, [number, string]>(
    `SELECT ${memoryColumns} FROM ${memoriesWithTasks} WHERE m.project_id = +? AND m.id = +?`,
  );
  // updated_at must not decrease after the clock has been set back.
  const update = db.prepare(
    `UPDATE memories SET content = ifnull(?1, content), metadata = ifnull(?2, metadata),
       occurred_at = iif(?3, ?4, occurred_at), expires_at = iif(?5, ?6, expires_at),
       version = version + 1, last_change = ?7, updated_at = max(?8, updated_at)
     WHERE project_id = ?9 AND row_id = ?10`,
  );
  const settleTask = db.prepare(
    `UPDATE tasks SET state = 'complete', run_at = NULL, error_message = NULL, lease_owner = NULL,
       lease_token = lease_token + 1, chunks_complete = ?1, chunks_total = ?1,
       updated_at = max(?2, updated_at)
     WHERE project_id = ?3 AND memory_row_id = ?4 AND kind = 'index'`,
  );

  function locateVersion(write: Omit<Update, 'changes'>): Located {
    const { projectId, id, at, onlyUserId, expectedVersion } = write;
    const found = locate.get(projectId, id, at);
    if (found === null || !mayAccess(onlyUserId, found)) throw noSuchMemory();
    assertVersion(found, expectedVersion);
    return found;
  }

  /** Completes the memory's task, because any change makes a memory complete. */
  function settle(projectId: number, rowId: number, content: string, at: number): void {
    settleTask.run(splitChunks(content).length, at, projectId, rowId);
  }

  function save({ projectId, at, memory }: Write & { memory: NewMemory }): StoredResponse {
    const { userId } = memory;
    const known = origins.find(projectId, memory, at);
    if (known !== null) {
      if (changesNothing(known, memory)) return replacedResponse(known);
      const lastChange = users.recordChange(projectId, userId, 0);
      origins.replace(projectId, known.rowId, memory, { lastChange, at });
      settle(projectId, known.rowId, memory.content, at);
      return replacedResponse(changedMemory(known, memory, at));
    }
    const lastChange = users.recordChange(projectId, userId, 1);
    insert(projectId, memory, { version: 1, lastChange, createdAt: at, updatedAt: at });
    return savedResponse(memory, at);
  }

  function applyUpdate(write: Update): NewResponse {
    const { projectId, at, id, changes } = write;
    const { rowId, userId } = locateVersion(write);
    const memory = read.get(projectId, id);
    if (memory === null) throw noSuchMemory();
    if (changesNothing(memory, changes)) return updatedResponse(memory);
    const { content = null, metadata = null, occurredAt, expiresAt } = changes;
    const lastChange = users.recordChange(projectId, userId, 0);
    update.run(
      content,
      metadata,
      occurredAt === undefined ? 0 : 1,
      occurredAt ?? null,
      expiresAt === undefined ? 0 : 1,
      expiresAt ?? null,
      lastChange,
      at,
      projectId,
      rowId,
    );
    const changed = changedMemory(memory, changes, at);
    settle(projectId, rowId, changed.content, at);
    return updatedResponse(changed);
  }

  return {
    saveMemory: (write) => keys.once(write, () => save(write)),
    updateMemory: (write) => keys.once(write, () => applyUpdate(write)),
    deleteMemory: (write) =>
      keys.once(write, () => {
        const { rowId, userId } = locateVersion(write);
        removal.remove(write.projectId, userId, [{ rowId, id: write.id }]);
        return deletedResponse(userId);
      }),
  };
}
