import { bucketOf } from '../../../bucket.ts';
import { noSuchMemory } from '../../../errors.ts';
import { changedMemory, changesNothing } from '../../../memory/changes.ts';
import { splitChunks } from '../../../memory/chunks.ts';
import {
  deletedResponse,
  replacedResponse,
  savedResponse,
  updatedResponse,
} from '../../../memory/responses.ts';
import { isExpired, mayAccess } from '../../../memory/visibility.ts';
import { assertVersion } from '../../refusals.ts';
import type { Storage, StoredMemory, Write } from '../../storage.ts';
import { findMemory, type MemoryRow, memoryIn, memoryInserts, newRow } from '../row.ts';
import { type Run, type Statement, statement } from '../statement.ts';
import type { Effect } from './idempotency.ts';
import { findOrigins, forgetOrigin, replacements } from './origins.ts';
import { removeMemories } from './removal.ts';
import { settleTask } from './task-rows.ts';
import { addMemories, lockUsers, uncountChanges } from './users.ts';
import type { Plan } from './write-queue.ts';

type Save = Parameters<Storage['saveMemory']>[0];
type Update = Parameters<Storage['updateMemory']>[0];
type Delete = Parameters<Storage['deleteMemory']>[0];

/** Plans a save. Without an external id, a save cannot replace a memory and is a plain insert. */
export function planSave(write: Save): Plan {
  const { projectId, at, memory } = write;
  const effect: Effect = (run) => save(run, write);
  if (memory.externalId !== null) return { effect };
  const response = savedResponse(memory, at);
  const bucket = bucketOf(memory.userId);
  const rows = [newRow(projectId, memory, at)];
  return { effect, insert: { write, response, bucket, rows, areQueued: false } };
}

export function planUpdate(write: Update): Plan {
  return { effect: (run) => update(run, write) };
}

export function planDelete(write: Delete): Plan {
  return { effect: (run) => remove(run, write) };
}

async function save(run: Run, { projectId, at, memory }: Save): ReturnType<Effect> {
  const { userId } = memory;
  const bucket = bucketOf(userId);
  const user = { projectId, userId };
  const { changeOf, rows } = await lockUsers(run, [user], findOrigins(projectId, [memory]));
  const [known] = rows as MemoryRow[];
  if (known !== undefined && !isExpired(known, at)) {
    if (changesNothing(known, memory)) {
      return { response: replacedResponse(known), bucket, last: uncountChanges([user]) };
    }
    const lastChange = changeOf(user);
    const replacement = { id: known.id, memory, versions: 1, lastChange, at };
    const now = changedMemory(known, memory, at);
    const last = [...replacements(projectId, [replacement]), ...settle(projectId, bucket, now, at)];
    return { response: replacedResponse(now), bucket, last };
  }
  const last = [
    ...(known === undefined ? [] : forgetOrigin(projectId, known)),
    ...addMemories([{ ...user, added: 1 }]),
    ...memoryInserts([newRow(projectId, memory, at)], changeOf),
  ];
  return { response: savedResponse(memory, at), bucket, last };
}

async function update(run: Run, write: Update): ReturnType<Effect> {
  const { projectId, at, changes } = write;
  const { memory, lastChange } = await lockMemory(run, write, 0);
  const { bucket, userId } = memory;
  if (changesNothing(memory, changes)) {
    const last = uncountChanges([{ projectId, userId }]);
    return { response: updatedResponse(memory), bucket, last };
  }
  const changed = changedMemory(memory, changes, at);
  const change = statement(
    `UPDATE memories SET content = coalesce($4, content), metadata = coalesce($5, metadata),
       occurred_at = $6::int8, expires_at = $7::int8, version = version + 1,
       updated_at = greatest(updated_at, $8::int8), last_change = $9::int8
     WHERE project_id = $1::int8 AND bucket = $2::int2 AND id = $3`,
    projectId,
    bucket,
    memory.id,
    changes.content ?? null,
    changes.metadata ?? null,
    changed.occurredAt,
    changed.expiresAt,
    at,
    lastChange,
  );
  const last = [change, ...settle(projectId, bucket, changed, at)];
  return { response: updatedResponse(changed), bucket, last };
}

async function remove(run: Run, write: Delete): ReturnType<Effect> {
  const { projectId } = write;
  const { memory } = await lockMemory(run, write, -1);
  const response = deletedResponse(memory.userId);
  return { response, last: removeMemories(projectId, [memory]) };
}

type Located = Write & { id: string; expectedVersion: number | null };

/**
 * Locks the user's row, so that the memory cannot change until the transaction ends. `added` is the
 * change in the user's number of memories.
 */
async function lockMemory(
  run: Run,
  write: Located,
  added: number,
): Promise<{ memory: MemoryRow; lastChange: number }> {
  const { projectId, id } = write;
  const { userId, bucket } = assertVisible(await findMemory(run, projectId, id), write);
  const user = { projectId, userId, added };
  const { changeOf, rows } = await lockUsers(run, [user], [memoryIn(projectId, bucket, id)]);
  const [found = null] = rows as MemoryRow[];
  const memory = assertVisible(found, write);
  assertVersion(memory, write.expectedVersion);
  return { memory, lastChange: changeOf(user) };
}

function assertVisible(found: MemoryRow | null, { at, onlyUserId }: Write): MemoryRow {
  if (found === null || isExpired(found, at)) throw noSuchMemory();
  if (!mayAccess(onlyUserId, found)) throw noSuchMemory();
  return found;
}

/** Completes the memory's task, because any change makes a memory complete. */
function settle(projectId: number, bucket: number, memory: StoredMemory, at: number): Statement[] {
  return [
    settleTask({ projectId, bucket, memoryId: memory.id }, splitChunks(memory.content).length, at),
  ];
}
