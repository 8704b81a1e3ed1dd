import { type ImportOutcome, importedResponse } from '../../memory/responses.ts';
import { isExpired } from '../../memory/visibility.ts';
import type { WriteOperation, WriteTx } from '../engine.ts';
import type { ImportedMemory, Storage, StoredResponse, WriteResult } from '../storage.ts';
import { bytesOf, insertMemory } from './columns.ts';
import { removeRows } from './erasure.ts';
import { once } from './idempotency.ts';
import { findExternal } from './memories.ts';
import { addFailedTask, queueTask, reserveInQueue } from './tasks.ts';
import { keyOfUser, UserChanges } from './users.ts';

type Import = Parameters<Storage['importMemories']>[0];
type Known = { userId: string; expiresAt: number | null; bytes: number; change: number };

export const importMemories: WriteOperation<Import, WriteResult> = {
  name: 'importMemories',
  cost: ({ memories }) => memories.length,
  users: ({ projectId, memories }) => memories.map(({ userId }) => keyOfUser(projectId, userId)),
  run: (tx, write) => once(tx, write, () => importAll(tx, write)),
};

async function importAll(tx: WriteTx, write: Import): Promise<StoredResponse> {
  const { projectId, memories, batch } = write;
  const processing = memories.filter(({ status }) => status === 'processing').length;
  await reserveInQueue(tx, projectId, processing);
  const changes = new UserChanges(tx, projectId);
  await changes.record(memories.map(({ userId }) => userId));
  const outcomes: ImportOutcome[] = [];
  for (const [ordinal, memory] of memories.entries()) {
    outcomes.push(await importOne(tx, write, { memory, ordinal, changes }));
  }
  await changes.store();
  return importedResponse(outcomes, batch);
}

async function importOne(
  tx: WriteTx,
  { projectId, at }: Import,
  item: { memory: ImportedMemory; ordinal: number; changes: UserChanges },
): Promise<ImportOutcome> {
  const { memory, ordinal, changes } = item;
  const { id, userId, status, version, createdAt, updatedAt } = memory;
  const known = await tx.one<Known>(
    `SELECT user_id AS "userId", expires_at AS "expiresAt", bytes, last_change AS change
     FROM memories WHERE project_id = $1 AND id = $2`,
    projectId,
    id,
  );
  if (known !== undefined && !isExpired(known, at)) return 'skipped';
  // Delete an expired memory with the same id if maintenance has not deleted it yet.
  if (known !== undefined) {
    await changes.record([known.userId]);
    changes.add(known.userId, { memories: -1, bytes: -known.bytes });
    await removeRows(tx, { projectId, userId: known.userId }, { id, change: known.change });
    await tx.noteRemoved('memory');
  }
  if ((await findExternal(tx, projectId, memory, at)) !== null) return 'conflict';
  if (isExpired(memory, at)) return 'imported';
  const change = changes.add(userId, { memories: 1, bytes: bytesOf(memory) });
  await insertMemory(tx, projectId, memory, { version, createdAt, updatedAt, change });
  const key = { projectId, userId, memoryId: id };
  if (status === 'processing') await queueTask(tx, key, { at, ordinal });
  if (status === 'failed') await addFailedTask(tx, key, updatedAt);
  return 'imported';
}
