import { changedMemory, changesNothing } from '../../memory/changes.ts';
import { acceptedResponse } from '../../memory/responses.ts';
import type { WriteOperation, WriteTx } from '../engine.ts';
import type { NewMemory, Storage, StoredResponse, WriteResult } from '../storage.ts';
import { bytesOf, externalKey, insertMemory, type KnownMemory, replaceMemory } from './columns.ts';
import { once } from './idempotency.ts';
import { findExternal } from './memories.ts';
import { queueTask, reserveInQueue } from './tasks.ts';
import { keyOfUser, UserChanges } from './users.ts';

type Accept = Parameters<Storage['acceptRecords']>[0];

export const acceptRecords: WriteOperation<Accept, WriteResult> = {
  name: 'acceptRecords',
  cost: ({ records }) => records.length,
  users: ({ projectId, records }) => records.map(({ userId }) => keyOfUser(projectId, userId)),
  run: (tx, write) => once(tx, write, () => accept(tx, write)),
};

/**
 * A record that changes something: the memory that it replaces, if any, and the new memory, whose
 * change number is known once the users have been locked.
 */
type Item = {
  record: NewMemory;
  ordinal: number;
  known: KnownMemory | null;
  stored: KnownMemory;
};

async function accept(tx: WriteTx, write: Accept): Promise<StoredResponse> {
  const { projectId, records, batch } = write;
  await reserveInQueue(tx, projectId, records.length);
  const { ids, items } = await plan(tx, write);
  const changes = new UserChanges(tx, projectId);
  await changes.record(items.map(({ record }) => record.userId));
  await Promise.all(items.flatMap((item) => store(tx, write, item, changes)));
  await changes.store();
  return acceptedResponse(records, ids, new Set(items.map(({ stored }) => stored.id)), batch);
}

/** Finds out what each record changes. The later of two records of the same thing replaces it. */
async function plan(
  tx: WriteTx,
  { projectId, at, records }: Accept,
): Promise<{ ids: string[]; items: Item[] }> {
  const memories = new Map<string, KnownMemory>();
  const ids: string[] = [];
  const items: Item[] = [];
  const read = await Promise.all(records.map((record) => findExternal(tx, projectId, record, at)));
  for (const [ordinal, record] of records.entries()) {
    const name = JSON.stringify([record.userId, externalKey(record) ?? ordinal]);
    const known = memories.get(name) ?? read[ordinal] ?? null;
    ids.push(known?.id ?? record.id);
    if (known !== null && changesNothing(known, record)) continue;
    const stored = storedAs(record, known, at);
    memories.set(name, stored);
    items.push({ record, ordinal, known, stored });
  }
  return { ids, items };
}

function storedAs(record: NewMemory, known: KnownMemory | null, at: number): KnownMemory {
  const bytes = bytesOf(record);
  if (known === null) {
    const row = { version: 1, createdAt: at, updatedAt: at, bytes, change: 0 };
    return { ...record, ...row, status: 'processing' };
  }
  const { id: _, ...fields } = record;
  return { ...changedMemory(known, fields, at), status: 'processing', bytes };
}

function store(
  tx: WriteTx,
  { projectId, at }: Accept,
  { ordinal, known, stored }: Item,
  changes: UserChanges,
): Promise<unknown>[] {
  const { id, userId, bytes } = stored;
  const memories = known === null ? 1 : 0;
  stored.change = changes.add(userId, { memories, bytes: bytes - (known?.bytes ?? 0) });
  return [
    known === null
      ? insertMemory(tx, projectId, stored, stored)
      : replaceMemory(tx, projectId, known, stored),
    queueTask(tx, { projectId, userId, memoryId: id }, { at, ordinal }),
  ];
}
