import { bucketOf, bucketOfId } from '../../../bucket.ts';
import { type ImportOutcome, importedResponse } from '../../../memory/responses.ts';
import { queueFull } from '../../refusals.ts';
import type { ImportedMemory, Storage, WriteResult } from '../../storage.ts';
import { byKey, type InsertedMemory, type MemoryRow, memoryInserts, originOf } from '../row.ts';
import { overRows, type Statement, type Value } from '../statement.ts';
import type { Transaction } from '../transaction.ts';
import { type Effect, once } from './idempotency.ts';
import { isVisible } from './memories.ts';
import { findOrigins, forgetOrigin } from './origins.ts';
import { removeMemories } from './removal.ts';
import { queueNew } from './task-rows.ts';
import { addMemories, countChanges, removeEmptyUsers } from './users.ts';
import type { PlannedWrite } from './write-queue.ts';

type Import = Parameters<Storage['importMemories']>[0];
type Known = Pick<MemoryRow, 'id' | 'bucket' | 'userId' | 'expiresAt'>;
type KnownOrigin = MemoryRow & { origin: string };

export function planImport(
  write: Import,
  { uptime, isFull }: { uptime: () => number; isFull: boolean },
): PlannedWrite<WriteResult> {
  const { projectId, memories } = write;
  const work = once(write, uptime, async (tx) => {
    if (isFull) throw queueFull();
    return importAll(tx, write);
  });
  return { projectId, cost: memories.length, insert: null, work };
}

const findIds = overRows(
  ['int8', 'int2', 'text'],
  (values) => `WITH ids (project_id, bucket, id) AS (${values}), places AS (
      SELECT * FROM ids UNION
      SELECT l.project_id, l.location, l.id FROM memory_locations AS l
      WHERE (l.project_id, l.bucket, l.id) IN (SELECT * FROM ids))
    SELECT m.bucket, m.id, m.user_id AS "userId", m.expires_at::float8 AS "expiresAt"
    FROM memories AS m
    WHERE (m.project_id, m.bucket, m.id) IN (SELECT * FROM places)`,
);

function findKnown({ projectId, memories }: Import): Statement[] {
  return findIds(memories.map(({ id }): Value[] => [projectId, bucketOfId(id), id]).sort(byKey));
}

async function importAll(tx: Transaction, write: Import): ReturnType<Effect> {
  const { projectId, at, memories, batch } = write;
  // The owner of an expired memory with the same id loses it, and must be locked as well.
  const before = (await tx.run(...findKnown(write))).flat() as Known[];
  const users = [...memories, ...before.filter((row) => !isVisible(row, at))].map(({ userId }) => {
    return { projectId, userId, added: 0 };
  });
  const locks = countChanges(users);
  const ids = findKnown(write);
  const rows = (await tx.run(...locks, ...ids, ...findOrigins(projectId, memories))).slice(
    locks.length,
  );
  const known = rows.slice(0, ids.length).flat() as Known[];
  const origins = rows.slice(ids.length).flat() as KnownOrigin[];
  const { outcomes, imported, expired } = sortOut(write, known, origins);
  const renamed = origins.filter((row) => !isVisible(row, at));
  const last = [
    ...addMemories(expired.map(({ userId }) => ({ projectId, userId, added: -1 }))),
    ...addMemories(imported.map(({ userId }) => ({ projectId, userId, added: 1 }))),
    ...(expired.length > 0 ? removeMemories(projectId, expired) : []),
    ...renamed.flatMap((row) => forgetOrigin(projectId, row)),
    ...memoryInserts(imported.map((memory) => rowOf(projectId, memory))),
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

/** The outcome of each item. An earlier item of the batch may have the same id or origin. */
function sortOut({ at, memories }: Import, known: Known[], origins: KnownOrigin[]) {
  const isThere = (row: Known) => isVisible(row, at);
  const takenIds = new Set(known.filter(isThere).map(({ id }) => id));
  const takenOrigins = new Set(
    origins.filter(isThere).map(({ userId, origin }) => `${bucketOf(userId)} ${origin} ${userId}`),
  );
  const imported: ImportedMemory[] = [];
  const outcomes = memories.map((memory): ImportOutcome => {
    if (takenIds.has(memory.id)) return 'skipped';
    const origin = originOf(memory);
    const name = `${bucketOf(memory.userId)} ${origin} ${memory.userId}`;
    if (origin !== null && takenOrigins.has(name)) return 'conflict';
    takenIds.add(memory.id);
    if (origin !== null) takenOrigins.add(name);
    imported.push(memory);
    return 'imported';
  });
  // Including those whose item is a conflict: they have expired.
  const expired = known.filter((row) => !isThere(row));
  return { outcomes, imported, expired };
}

function rowOf(projectId: number, memory: ImportedMemory): InsertedMemory {
  const { version, createdAt, updatedAt } = memory;
  return { projectId, memory, version, createdAt, updatedAt, isImported: true };
}
