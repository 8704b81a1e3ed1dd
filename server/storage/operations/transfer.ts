import { type ImportOutcome, importedResponse } from '../../memory/responses.ts';
import { isExpired } from '../../memory/visibility.ts';
import type { Tx, WriteOperation, WriteTx } from '../engine.ts';
import { WriteConflict } from '../refusals.ts';
import type { Batch, StoredMemory, StoredResponse, Write, WriteResult } from '../types/memories.ts';
import { bytesOf, externalKey, insertMemory, type KnownMemory } from './columns.ts';
import { removeCounted } from './erasure.ts';
import { longLists, overIds } from './id-lists.ts';
import { once } from './idempotency.ts';
import { findExternal } from './memories.ts';
import { addFailedTask, queueTask, reserveInQueue } from './tasks.ts';
import { keyOfUser, recordChanges } from './users.ts';

type Import = Write & { memories: StoredMemory[]; batch: Batch };
type Known = Pick<KnownMemory, 'id' | 'userId' | 'expiresAt' | 'bytes' | 'change'>;

/**
 * Stores memories with the given ids, times, types, versions and statuses, and queues those with
 * the status `processing`. Skips ids that already exist. Does not store items that have expired. An
 * item fails if another memory has the same user, source and external id. Throws `rate_limited`
 * under the same condition as `acceptRecords`.
 */
export const importMemories: WriteOperation<Import, WriteResult> = {
  cost: ({ memories }) => memories.length,
  users: ({ projectId, memories }) => memories.map(({ userId }) => keyOfUser(projectId, userId)),
  run: (tx, write) => once(tx, write, () => importAll(tx, write)),
};

/** A memory to store. `ordinal` is its position in the batch. */
type Item = { memory: StoredMemory; ordinal: number };

async function importAll(tx: WriteTx, write: Import): Promise<StoredResponse> {
  const { projectId, at, memories, batch } = write;
  await lockIds(tx, projectId);
  const processing = memories.filter(({ status }) => status === 'processing').length;
  await reserveInQueue(tx, projectId, processing);
  const known = await findKnown(tx, write);
  const external = await Promise.all(
    memories.map((memory) => findExternal(tx, projectId, memory, at)),
  );
  const isKnown = (index: number) => {
    const row = known[index];
    return row !== undefined && !isExpired(row, at);
  };
  const { outcomes, items } = outcomesOf(write, isKnown, (index) => external[index] !== null);
  const expired = [...new Set(known)]
    .filter((row) => row !== undefined)
    .filter((row) => isExpired(row, at));
  const nextChange = await recordChanges(tx, projectId, [
    ...expired.map(({ userId, bytes }) => ({ userId, memories: -1, bytes: -bytes })),
    ...items.map(({ memory }) => {
      return { userId: memory.userId, memories: 1, bytes: bytesOf(memory) };
    }),
  ]);
  // Maintenance has not deleted them yet.
  const ofUsers = [...Map.groupBy(expired, ({ userId }) => userId)];
  await Promise.all(
    ofUsers.map(([userId, rows]) => removeCounted(tx, { projectId, userId }, rows)),
  );
  await Promise.all(items.flatMap((item) => store(tx, write, item, nextChange)));
  return importedResponse(outcomes, batch);
}

/** Another import of the same transaction would not see the memories of this one. */
async function lockIds(tx: Tx, projectId: number): Promise<void> {
  const { lockIds: text } = tx.dialect;
  if (text !== null && (await tx.run(text, [projectId])) === 0) throw new WriteConflict();
}

const findByIds = overIds(
  2,
  (ids) => `SELECT id, user_id AS "userId", expires_at AS "expiresAt", bytes, last_change AS change
    FROM memories WHERE project_id = CAST($1 AS bigint) AND id IN (${ids})`,
  longLists,
);

/** Returns the stored memory with the id of each memory, if there is one. */
async function findKnown(tx: Tx, { projectId, memories }: Import): Promise<(Known | undefined)[]> {
  const statements = findByIds(memories.map(({ id }) => id));
  const found = await Promise.all(
    statements.map(({ text, ids }) => tx.all<Known>(text, [projectId, ...ids])),
  );
  const byId = new Map(found.flat().map((row) => [row.id, row]));
  return memories.map(({ id }) => byId.get(id));
}

/**
 * Determines the outcome of each memory, including conflicts within the batch. A memory that has
 * expired is not stored, so it takes neither its id nor its external id, and conflicts with none.
 */
function outcomesOf(
  { memories, at }: Import,
  isKnown: (index: number) => boolean,
  isConflict: (index: number) => boolean,
): { outcomes: ImportOutcome[]; items: Item[] } {
  const ids = new Set<string>();
  const keys = new Set<string>();
  const items: Item[] = [];
  const outcomes = memories.map((memory, ordinal): ImportOutcome => {
    if (isKnown(ordinal) || ids.has(memory.id)) return 'skipped';
    if (isExpired(memory, at)) return 'imported';
    const key = JSON.stringify([memory.userId, externalKey(memory) ?? ordinal]);
    if (isConflict(ordinal) || keys.has(key)) return 'conflict';
    ids.add(memory.id);
    keys.add(key);
    items.push({ memory, ordinal });
    return 'imported';
  });
  return { outcomes, items };
}

function store(
  tx: WriteTx,
  { projectId, at }: Import,
  { memory, ordinal }: Item,
  nextChange: (userId: string) => number,
): Promise<number>[] {
  const { id, userId, status, version, createdAt, updatedAt } = memory;
  const change = nextChange(userId);
  const key = { projectId, userId, memoryId: id };
  return [
    insertMemory(tx, projectId, memory, { version, createdAt, updatedAt, change }),
    ...(status === 'processing' ? [queueTask(tx, key, { at, ordinal })] : []),
    ...(status === 'failed' ? [addFailedTask(tx, key, updatedAt)] : []),
  ];
}
