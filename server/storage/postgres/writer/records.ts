import { bucketOf } from '../../../bucket.ts';
import { changesNothing } from '../../../memory/changes.ts';
import { acceptedResponse } from '../../../memory/responses.ts';
import { isExpired } from '../../../memory/visibility.ts';
import type { NewMemory, Storage } from '../../storage.ts';
import { type InsertedMemory, type MemoryRow, memoryInserts, newRow, originOf } from '../row.ts';
import type { Run } from '../statement.ts';
import type { Effect } from './idempotency.ts';
import {
  findOrigins,
  forgetOrigin,
  originName,
  type Replacement,
  replacements,
} from './origins.ts';
import { indexedOf, queueAgain, queueNew } from './task-rows.ts';
import { addMemories, type ChangeNumber, lockUsers, uncountChanges } from './users.ts';
import type { Plan } from './write-queue.ts';

type Accept = Parameters<Storage['acceptRecords']>[0];

/** Plans an ingest. Records without external ids cannot replace memories and are plain inserts. */
export function planRecords(write: Accept): Plan {
  const { projectId, at, records } = write;
  const plan: Plan = { cost: records.length, effect: (run) => accept(run, write) };
  if (records.some(({ externalId }) => externalId !== null)) return plan;
  const ids = records.map(({ id }) => id);
  const response = acceptedResponse(records, ids, new Set(ids), write.batch);
  const rows = records.map((record) => newRow(projectId, record, at));
  return {
    ...plan,
    insert: { write, response, bucket: bucketOfSingle(write), rows, areQueued: true },
  };
}

/** Returns the bucket of a single record. The response to a batch contains no memory's data. */
function bucketOfSingle({ records: [record], batch }: Accept): number | null {
  return batch === null && record !== undefined ? bucketOf(record.userId) : null;
}

async function accept(run: Run, write: Accept): ReturnType<Effect> {
  const { projectId, at, records, batch } = write;
  const users = records.map(({ userId }) => ({ projectId, userId }));
  const { changeOf, rows } = await lockUsers(run, users, findOrigins(projectId, records));
  const { ids, inserted, replaced, forgotten } = sortOut(write, rows as KnownRow[], changeOf);
  const queued = [...inserted.map(({ memory }) => memory), ...replaced.map(({ memory }) => memory)];
  const changedUsers = new Set(queued.map(({ userId }) => userId));
  const last = [
    ...forgotten.flatMap((row) => forgetOrigin(projectId, row)),
    ...addMemories(inserted.map(({ memory }) => ({ projectId, userId: memory.userId, added: 1 }))),
    ...memoryInserts(inserted, changeOf),
    ...replacements(projectId, replaced),
    ...queueNew(inserted.map(indexedOf)),
    ...queueAgain(
      replaced.map(({ id, memory: { userId } }) => ({ projectId, memoryId: id, userId, at })),
    ),
    ...uncountChanges(users.filter(({ userId }) => !changedUsers.has(userId))),
  ];
  const response = acceptedResponse(records, ids, new Set(queued.map(({ id }) => id)), batch);
  return { response, bucket: bucketOfSingle(write), last };
}

type KnownRow = MemoryRow & { origin: string };
/** A known memory, which no record has changed as long as `versions` is 0. */
type Known = Replacement & { before: MemoryRow };

/**
 * Determines the effect of each record: a new memory, new text for an existing memory, or nothing.
 * If several records have the same origin, the last record wins, and each change counts as a
 * version.
 */
function sortOut(
  { projectId, at, records }: Accept,
  known: readonly KnownRow[],
  changeOf: ChangeNumber,
) {
  const expired = known.filter((row) => isExpired(row, at));
  const there = new Map<string, InsertedMemory | Known>();
  for (const row of known) {
    if (isExpired(row, at)) continue;
    const lastChange = changeOf({ projectId, userId: row.userId });
    there.set(originName(row.userId, row.origin), {
      id: row.id,
      before: row,
      memory: row,
      versions: 0,
      lastChange,
      at,
    });
  }
  const inserted: InsertedMemory[] = [];
  const ids = records.map((record) => {
    const origin = originOf(record);
    const named = origin === null ? undefined : there.get(originName(record.userId, origin));
    if (named === undefined) {
      const row = newRow(projectId, record, at);
      inserted.push(row);
      if (origin !== null) there.set(originName(record.userId, origin), row);
      return record.id;
    }
    return putIn(named, record);
  });
  const isReplaced = (one: InsertedMemory | Known): one is Known =>
    'versions' in one && one.versions > 0;
  return { ids, inserted, replaced: [...there.values()].filter(isReplaced), forgotten: expired };
}

/** Merges a record into the earlier effect with the same origin. Returns the memory's id. */
function putIn(named: InsertedMemory | Known, record: NewMemory): string {
  const { id } = named.memory;
  if ('before' in named && named.versions === 0 && changesNothing(named.before, record)) return id;
  named.memory = { ...record, id };
  if ('versions' in named) named.versions += 1;
  else named.version += 1;
  return id;
}
