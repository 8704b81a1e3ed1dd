import { bucketOf } from '../../../bucket.ts';
import { acceptedResponse } from '../../../memory/responses.ts';
import { isExpired } from '../../../memory/visibility.ts';
import { queueFull } from '../../refusals.ts';
import type { NewMemory, Storage, WriteResult } from '../../storage.ts';
import { type InsertedMemory, type MemoryRow, memoryInserts, newRow, originOf } from '../row.ts';
import type { Transaction } from '../transaction.ts';
import { type Effect, once } from './idempotency.ts';
import { findOrigins, forgetOrigin, type Replacement, replacements } from './origins.ts';
import { indexedOf, queueAgain, queueNew } from './task-rows.ts';
import { addMemories, type ChangeNumber, changeNumbers, countChanges } from './users.ts';
import type { PlannedWrite } from './write-queue.ts';

type Accept = Parameters<Storage['acceptRecords']>[0];

/** Plans an ingest. Records without external ids cannot replace memories and are plain inserts. */
export function planRecords(
  write: Accept,
  { uptime, isFull }: { uptime: () => number; isFull: boolean },
): PlannedWrite<WriteResult> {
  const { projectId, at, records } = write;
  const cost = records.length;
  const work = once(write, uptime, async (tx) => {
    if (isFull) throw queueFull();
    return accept(tx, write);
  });
  if (isFull || records.some(({ externalId }) => externalId !== null)) {
    return { projectId, cost, insert: null, work };
  }
  const rows = records.map((record) => newRow(projectId, record, at));
  const ids = records.map(({ id }) => id);
  const response = acceptedResponse(records, ids, write.batch);
  return {
    projectId,
    cost,
    insert: { write, response, bucket: null, rows, areQueued: true },
    work,
  };
}

async function accept(tx: Transaction, write: Accept): ReturnType<Effect> {
  const { projectId, at, records, batch } = write;
  const locks = countChanges(records.map(({ userId }) => ({ projectId, userId, added: 0 })));
  const rows = await tx.run(...locks, ...findOrigins(projectId, records));
  const changeOf = changeNumbers(rows.slice(0, locks.length).flat());
  const known = rows.slice(locks.length).flat() as KnownRow[];
  const { ids, inserted, replaced, forgotten } = sortOut(write, known, changeOf);
  const last = [
    ...forgotten.flatMap((row) => forgetOrigin(projectId, row)),
    ...addMemories(inserted.map(({ memory }) => ({ projectId, userId: memory.userId, added: 1 }))),
    ...memoryInserts(inserted, changeOf),
    ...replacements(projectId, replaced),
    ...queueNew(inserted.map(indexedOf)),
    ...queueAgain(
      replaced.map(({ id, memory: { userId } }) => ({ projectId, memoryId: id, userId, at })),
    ),
  ];
  return { response: acceptedResponse(records, ids, batch), last };
}

type KnownRow = MemoryRow & { origin: string };

/**
 * Determines the effect of each record: a new memory, or new text for an existing memory. If
 * several records have the same origin, the last record wins, and each counts as a version.
 */
function sortOut(
  { projectId, at, records }: Accept,
  known: readonly KnownRow[],
  changeOf: ChangeNumber,
) {
  const expired = known.filter((row) => isExpired(row, at));
  const there = new Map<string, InsertedMemory | Replacement>();
  for (const row of known) {
    if (isExpired(row, at)) continue;
    const lastChange = changeOf({ projectId, userId: row.userId });
    there.set(name(row.userId, row.origin), {
      id: row.id,
      memory: row,
      versions: 0,
      lastChange,
      at,
    });
  }
  const inserted: InsertedMemory[] = [];
  const ids = records.map((record) => {
    const origin = originOf(record);
    const named = origin === null ? undefined : there.get(name(record.userId, origin));
    if (named === undefined) {
      const row = newRow(projectId, record, at);
      inserted.push(row);
      if (origin !== null) there.set(name(record.userId, origin), row);
      return record.id;
    }
    return putIn(named, record);
  });
  const isReplaced = (one: InsertedMemory | Replacement): one is Replacement =>
    'versions' in one && one.versions > 0;
  return { ids, inserted, replaced: [...there.values()].filter(isReplaced), forgotten: expired };
}

/** Merges a record into the earlier effect with the same origin. Returns the memory's id. */
function putIn(named: InsertedMemory | Replacement, record: NewMemory): string {
  const id = 'id' in named ? named.id : named.memory.id;
  named.memory = { ...record, id };
  if ('versions' in named) named.versions += 1;
  else named.version += 1;
  return id;
}

function name(userId: string, origin: string): string {
  return `${bucketOf(userId)} ${origin} ${userId}`;
}
