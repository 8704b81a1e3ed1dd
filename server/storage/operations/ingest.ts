import { changedMemory, changesNothing } from '../../memory/changes.ts';
import { acceptedResponse } from '../../memory/responses.ts';
import type { WriteOperation, WriteTx } from '../engine.ts';
import type { Batch, NewMemory, StoredResponse, Write, WriteResult } from '../types/memories.ts';
import { bytesOf, externalKey, insertMemory, type KnownMemory, replaceMemory } from './columns.ts';
import { once } from './idempotency.ts';
import { findExternal, unchanged } from './memories.ts';
import { assertNotFull, queueTask, reserveInQueue } from './tasks.ts';
import { keyOfUser, recordChanges } from './users.ts';

type Accept = Write & { records: NewMemory[]; batch: Batch | null };

/**
 * Stores the records in order, each with a task to index it. An existing memory with the same user,
 * source and external id is replaced and keeps its id and creation time. A lease on the task for
 * the old text becomes invalid. `batch` is null for a single record. Throws `rate_limited` if too
 * many tasks of the project are pending.
 */
export const acceptRecords: WriteOperation<Accept, WriteResult> = {
  cost: ({ records }) => records.length,
  users: ({ projectId, records }) => records.map(({ userId }) => keyOfUser(projectId, userId)),
  run: (tx, write) => once(tx, write, () => accept(tx, write)),
};

/**
 * What a batch does to one memory: the memory as it was, if any, and as it will be. `ordinal` is
 * the position of its last record.
 */
type Item = { known: KnownMemory | null; stored: KnownMemory; ordinal: number };

async function accept(tx: WriteTx, write: Accept): Promise<StoredResponse> {
  const { projectId, records, batch } = write;
  // A full queue rejects a batch before the work of comparing its records with their memories.
  await assertNotFull(tx, projectId);
  const { ids, items } = await plan(tx, write);
  await reserveInQueue(tx, projectId, items.length);
  const added = items.map(({ known, stored }) => ({
    userId: stored.userId,
    memories: known === null ? 1 : 0,
    bytes: stored.bytes - (known?.bytes ?? 0),
  }));
  const nextChange = await recordChanges(tx, projectId, added);
  await Promise.all(items.flatMap((item) => store(tx, write, item, nextChange)));
  return acceptedResponse(records, ids, new Set(items.map(({ stored }) => stored.id)), batch);
}

/** Finds out what the records change. The later of two records of the same thing replaces it. */
async function plan(tx: WriteTx, write: Accept): Promise<{ ids: string[]; items: Item[] }> {
  const { projectId, at, records, batch } = write;
  const items = new Map<string | number, Item>();
  const ids: string[] = [];
  const read = await Promise.all(records.map((record) => findExternal(tx, projectId, record, at)));
  for (const [ordinal, record] of records.entries()) {
    const key = externalKey(record);
    const name = key === null ? ordinal : JSON.stringify([record.userId, key]);
    const item = items.get(name);
    const present = item?.stored ?? read[ordinal] ?? null;
    ids.push(present?.id ?? record.id);
    if (present !== null && changesNothing(present, record)) {
      // Only the response to a single record shows more than the memory's id.
      if (batch === null) await unchanged(tx, write, present);
      continue;
    }
    const known = item === undefined ? present : item.known;
    items.set(name, { known, stored: storedAs(record, present, at), ordinal });
  }
  return { ids, items: [...items.values()] };
}

function storedAs(record: NewMemory, present: KnownMemory | null, at: number): KnownMemory {
  const bytes = bytesOf(record);
  if (present === null) {
    const row = { version: 1, createdAt: at, updatedAt: at, bytes, change: 0 };
    return { ...record, ...row, status: 'processing' };
  }
  const { id: _, ...fields } = record;
  return { ...changedMemory(present, fields, at), status: 'processing', bytes };
}

function store(
  tx: WriteTx,
  { projectId, at }: Accept,
  { ordinal, known, stored }: Item,
  nextChange: (userId: string) => number,
): Promise<unknown>[] {
  const { id, userId } = stored;
  stored.change = nextChange(userId);
  return [
    known === null
      ? insertMemory(tx, projectId, stored, stored)
      : replaceMemory(tx, projectId, known, stored),
    queueTask(tx, { projectId, userId, memoryId: id }, { at, ordinal }),
  ];
}
