import { noSuchMemory } from '../../errors.ts';
import { changedMemory, changesNothing } from '../../memory/changes.ts';
import { chunksOf } from '../../memory/chunks.ts';
import {
  deletedResponse,
  replacedResponse,
  savedResponse,
  updatedResponse,
} from '../../memory/responses.ts';
import { isExpired, mayAccess } from '../../memory/visibility.ts';
import type { Tx, WriteOperation, WriteTx } from '../engine.ts';
import { assertVersion, WriteConflict } from '../refusals.ts';
import type {
  ExpectedVersion,
  MemoryChanges,
  NewMemory,
  NewResponse,
  Write,
  WriteResult,
} from '../types/memories.ts';
import {
  bytesOf,
  externalKey,
  insertMemory,
  isAtChange,
  type KnownMemory,
  knownColumns,
  memoriesWithTasks,
  replaceMemory,
} from './columns.ts';
import { removeMemories } from './erasure.ts';
import { once } from './idempotency.ts';
import { settleTask } from './tasks.ts';
import { keyOfUser, lockUser, recordChange } from './users.ts';

type Save = Write & { memory: NewMemory; expectedVersion?: ExpectedVersion };
type Located = Write & { id: string; expectedVersion: ExpectedVersion };
type Update = Located & { changes: MemoryChanges };

/**
 * Stores a memory with the status `complete`. An existing memory with the same user, source and
 * external id is replaced and keeps its id, and its pending task is canceled. The response status
 * is 201 for a new memory and 200 for a replaced memory. Throws `precondition_failed` if a version
 * is expected, and no such memory has it.
 */
export const saveMemory: WriteOperation<Save, WriteResult> = {
  users: ({ projectId, memory }) => [keyOfUser(projectId, memory.userId)],
  run: (tx, write) => once(tx, write, () => save(tx, write)),
};

/**
 * Replaces the given fields. Pending work on the memory is canceled, and its status becomes
 * `complete`. Throws `not_found` if the memory does not exist, and `precondition_failed` if its
 * version is not the expected version.
 */
export const updateMemory: WriteOperation<Update, WriteResult> = {
  run: (tx, write) => once(tx, write, () => update(tx, write)),
};

/**
 * Deletes the memory, its tasks and its data in stored responses. Throws the same errors as
 * `updateMemory`.
 */
export const deleteMemory: WriteOperation<Located, WriteResult> = {
  run: (tx, write) =>
    once(tx, write, async () => {
      const memory = await readVisible(tx, write);
      const { userId } = memory;
      await removeMemories(tx, { projectId: write.projectId, userId }, [memory]);
      return deletedResponse(userId);
    }),
};

async function save(tx: WriteTx, write: Save): Promise<NewResponse> {
  const { projectId, at, memory, expectedVersion = null } = write;
  const known = await findExternal(tx, projectId, memory, at);
  assertVersion(known, expectedVersion);
  if (known === null) {
    const added = { memories: 1, bytes: bytesOf(memory) };
    const number = await recordChange(tx, projectId, memory.userId, added);
    const row = { version: 1, createdAt: at, updatedAt: at, change: number };
    await insertMemory(tx, projectId, memory, row);
    return savedResponse(memory, at);
  }
  if (changesNothing(known, memory)) return replacedResponse(await unchanged(tx, write, known));
  return replacedResponse(await change(tx, projectId, known, memory, at));
}

async function update(tx: WriteTx, write: Update): Promise<NewResponse> {
  const { projectId, at, changes } = write;
  const memory = await readVisible(tx, write);
  if (changesNothing(memory, changes)) return updatedResponse(await unchanged(tx, write, memory));
  return updatedResponse(await change(tx, projectId, memory, changes, at));
}

/**
 * Returns the memory as it is. If the response will be stored, ensures that no other write deletes
 * the memory meanwhile, which would not remove the text from the response.
 */
export async function unchanged(
  tx: Tx,
  { projectId, idempotency }: Write,
  memory: KnownMemory,
): Promise<KnownMemory> {
  if (idempotency === null) return memory;
  const { userId, id, change } = memory;
  await lockUser(tx, projectId, userId);
  if (!(await isAtChange(tx, [projectId, userId, id], change))) throw new WriteConflict();
  return memory;
}

/** Stores the changes as one change of the user, and completes the memory. */
async function change(
  tx: WriteTx,
  projectId: number,
  known: KnownMemory,
  changes: MemoryChanges & Partial<Pick<NewMemory, 'type'>>,
  at: number,
): Promise<KnownMemory> {
  const changed = changedMemory(known, changes, at);
  const { userId, id, content, metadata } = changed;
  const added = { memories: 0, bytes: bytesOf(changed) - known.bytes };
  const number = await recordChange(tx, projectId, userId, added);
  const chunks = chunksOf(content, metadata).length;
  await Promise.all([
    replaceMemory(tx, projectId, known, { ...changed, change: number }),
    settleTask(tx, { projectId, userId, memoryId: id }, { chunks, at }),
  ]);
  return changed;
}

async function readVisible(tx: Tx, write: Located): Promise<KnownMemory> {
  const { projectId, id, at, onlyUserId, expectedVersion } = write;
  const memory = await tx.one<KnownMemory>(
    `SELECT ${knownColumns} FROM ${memoriesWithTasks}
     WHERE m.project_id = CAST($1 AS bigint) AND m.id = CAST($2 AS text)`,
    [projectId, id],
  );
  if (memory === undefined || isExpired(memory, at)) throw noSuchMemory();
  if (!mayAccess(onlyUserId, memory)) throw noSuchMemory();
  assertVersion(memory, expectedVersion);
  return memory;
}

/**
 * Returns the memory with the same user, source and external id, or null. If that memory has
 * expired, removes its external id and returns null.
 */
export async function findExternal(
  tx: Tx,
  projectId: number,
  memory: NewMemory,
  at: number,
): Promise<KnownMemory | null> {
  const key = externalKey(memory);
  if (key === null) return null;
  const { userId } = memory;
  const known = await tx.one<KnownMemory>(
    `SELECT ${knownColumns} FROM ${memoriesWithTasks}
     WHERE m.project_id = CAST($1 AS bigint) AND m.user_id = CAST($2 AS text)
       AND m.external_key = CAST($3 AS text)`,
    [projectId, userId, key],
  );
  if (known === undefined || !isExpired(known, at)) return known ?? null;
  await tx.run(
    `UPDATE memories SET external_id = NULL, external_key = NULL
     WHERE project_id = $1 AND user_id = $2 AND id = $3`,
    [projectId, userId, known.id],
  );
  return null;
}
