import { type ImportOutcome, importedResponse } from '../../../memory/responses.ts';
import { isExpired } from '../../../memory/visibility.ts';
import type { ImportedMemory, Storage } from '../../storage.ts';
import { findByIds, type InsertedMemory, type MemoryRow, memoryInserts, originOf } from '../row.ts';
import { overPlaces, type Run } from '../statement.ts';
import type { Effect } from './idempotency.ts';
import { findOrigins, forgetOrigin, originName } from './origins.ts';
import { removeMemories } from './removal.ts';
import { queueNew } from './task-rows.ts';
import { addMemories, lockUsers, removeEmptyUsers } from './users.ts';
import type { Plan } from './write-queue.ts';

type Import = Parameters<Storage['importMemories']>[0];
type Known = Pick<MemoryRow, 'id' | 'bucket' | 'userId' | 'expiresAt'>;
type KnownOrigin = MemoryRow & { origin: string };

export function planImport(write: Import): Plan {
  return { cost: write.memories.length, effect: (run) => importAll(run, write) };
}

const findPlaces = overPlaces(
  ['int8', 'int2', 'text'],
  (values, inBucket) => `SELECT bucket, id, user_id AS "userId",
      expires_at::float8 AS "expiresAt"
    FROM memories WHERE (project_id, bucket, id) IN (${values})${inBucket('bucket')}`,
);

async function findKnown(run: Run, { projectId, memories }: Import): Promise<Known[]> {
  const ids = memories.map(({ id }) => id);
  return (await findByIds(run, projectId, ids, findPlaces)) as Known[];
}

async function importAll(run: Run, write: Import): ReturnType<Effect> {
  const { projectId, at, memories, batch } = write;
  // An expired memory with the same id is deleted, so its user's row must also be locked.
  const before = await findKnown(run, write);
  const users = [...memories, ...before.filter((row) => isExpired(row, at))].map(({ userId }) => {
    return { projectId, userId };
  });
  const [{ changeOf, rows }, known] = await Promise.all([
    lockUsers(run, users, findOrigins(projectId, memories)),
    findKnown(run, write),
  ]);
  const origins = rows as KnownOrigin[];
  const { outcomes, imported, expired } = sortOut(write, known, origins);
  const renamed = origins.filter((row) => isExpired(row, at));
  const last = [
    ...addMemories(expired.map(({ userId }) => ({ projectId, userId, added: -1 }))),
    ...addMemories(imported.map(({ userId }) => ({ projectId, userId, added: 1 }))),
    // mutate-ignore boundary: removing nothing has no effect
    ...(expired.length > 0 ? removeMemories(projectId, expired) : []),
    ...renamed.flatMap((row) => forgetOrigin(projectId, row)),
    ...memoryInserts(
      imported.map((memory) => rowOf(projectId, memory)),
      changeOf,
    ),
    ...queueNew(
      imported.filter(({ status }) => status === 'processing').map((one) => task(one, at)),
      imported.filter(({ status }) => status === 'failed').map((one) => task(one, one.updatedAt)),
    ),
    ...removeEmptyUsers(users),
  ];
  return { response: importedResponse(outcomes, batch), last };

  function task({ id, userId }: ImportedMemory, taskAt: number) {
    return { projectId, memoryId: id, userId, at: taskAt };
  }
}

/**
 * Determines the outcome of each item, including conflicts within the batch. An item that has
 * expired is not stored, so it takes neither its id nor its origin.
 */
function sortOut({ at, memories }: Import, known: Known[], origins: KnownOrigin[]) {
  const isThere = (row: Known) => !isExpired(row, at);
  const takenIds = new Set(known.filter(isThere).map(({ id }) => id));
  const takenOrigins = new Set(
    origins.filter(isThere).map(({ userId, origin }) => originName(userId, origin)),
  );
  const imported: ImportedMemory[] = [];
  const outcomes = memories.map((memory): ImportOutcome => {
    if (takenIds.has(memory.id)) return 'skipped';
    const origin = originOf(memory);
    const name = origin === null ? null : originName(memory.userId, origin);
    if (name !== null && takenOrigins.has(name)) return 'conflict';
    if (isExpired(memory, at)) return 'imported';
    takenIds.add(memory.id);
    if (name !== null) takenOrigins.add(name);
    imported.push(memory);
    return 'imported';
  });
  // Expired memories are deleted even if the outcome of the item with the same id is a conflict.
  const expired = known.filter((row) => !isThere(row));
  return { outcomes, imported, expired };
}

function rowOf(projectId: number, memory: ImportedMemory): InsertedMemory {
  const { version, createdAt, updatedAt } = memory;
  return { projectId, memory, version, createdAt, updatedAt, isImported: true };
}
