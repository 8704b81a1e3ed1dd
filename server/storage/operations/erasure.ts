import { erasedResponse } from '../../memory/responses.ts';
import { isExpired } from '../../memory/visibility.ts';
import { Paused, type Tx, type WriteOperation, type WriteTx } from '../engine.ts';
import { WriteConflict } from '../refusals.ts';
import type { Write, WriteResult } from '../types/memories.ts';
import type { UserRef } from '../types/project.ts';
import { firstBytes } from './columns.ts';
import { overIds } from './id-lists.ts';
import { findResponse, removeFromResponses, storeResponse } from './idempotency.ts';
import { dropSnapshot } from './snapshots.ts';
import { keyOfUser, lockUser, recordChange } from './users.ts';
import { dropPartsOf } from './vector-parts.ts';

type Erase = Write & { userId: string };
/** A memory to remove, as it was read. `change` is the number of the change that wrote it. */
type Removed = { id: string; bytes: number; change: number };
type Found = Removed & { createdAt: number; expiresAt: number | null };

/** The number of rows deleted per part. Other writes can run between two parts. */
const rowsPerPart = 500;
/** The text deleted per part, in bytes. SQLite overwrites it and writes its pages to the WAL. */
const bytesPerPart = 8 * 1024 * 1024;

/**
 * Deletes all memories that the user has when the operation begins, in the same way as
 * `deleteMemory`, and returns their number. A large erasure may use several transactions, so that
 * other writes can run in between. The last transaction stores the response. If a later one fails,
 * earlier ones stay, and a repeated call completes the erasure. The backend later overwrites the
 * deleted text on disk, as far as possible.
 */
export const eraseUser: WriteOperation<Erase, WriteResult> = {
  isLong: true,
  async run(tx, write) {
    const { projectId, userId } = write;
    const replay = await findResponse(tx, write);
    if (replay !== null) return replay;
    const begun = await lockUser(tx, projectId, userId);
    const last = { createdAt: Number.MIN_SAFE_INTEGER, id: '' };
    return erasePart(tx, write, { begun, last, erased: 0 });
  },
};

/**
 * Memories saved after the user's change `begun` have a later first change. `last` is the last
 * memory of the parts so far: PostgreSQL would otherwise pass all rows that this transaction has
 * deleted, for each part.
 */
type Progress = { begun: number; last: { createdAt: number; id: string }; erased: number };

async function erasePart(
  tx: WriteTx,
  write: Erase,
  { begun, last, erased: before }: Progress,
): Promise<WriteResult | Paused<WriteResult>> {
  const { projectId, userId, at } = write;
  const found = await tx.all<Found>(
    `SELECT id, bytes, last_change AS change, created_at AS "createdAt",
       expires_at AS "expiresAt" FROM memories
     WHERE project_id = CAST($1 AS bigint) AND user_id = CAST($2 AS text)
       AND first_change <= CAST($3 AS bigint) AND (created_at, id) > (CAST($4 AS bigint), $5)
     ORDER BY created_at, id LIMIT ${rowsPerPart + 1}`,
    [projectId, userId, begun, last.createdAt, last.id],
  );
  const rows = firstBytes(found.slice(0, rowsPerPart), bytesPerPart);
  const erased = before + rows.filter((row) => !isExpired(row, at)).length;
  if (rows.length > 0) await removeMemories(tx, write, rows);
  if (rows.length === found.length) return endErasure(tx, write, erased);
  return new Paused(async () => {
    // Another erasure has removed the user, whose change numbers have begun anew.
    // mutate-ignore boundary: each part is a change of the user
    if ((await lockUser(tx, projectId, userId)) < begun) return endErasure(tx, write, erased);
    return erasePart(tx, write, { begun, last: rows.at(-1) ?? last, erased });
  });
}

async function endErasure(tx: WriteTx, write: Erase, erased: number): Promise<WriteResult> {
  await tx.noteRemoved('user');
  return storeResponse(tx, write, erasedResponse(erased));
}

/** Deletes memories of one user, with their tasks and their text in stored responses. */
export async function removeMemories(
  tx: WriteTx,
  user: UserRef,
  rows: readonly Removed[],
): Promise<void> {
  const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
  await recordChange(tx, user.projectId, user.userId, { memories: -rows.length, bytes: -bytes });
  await removeCounted(tx, user, rows);
}

/**
 * Like `removeMemories`, after the change of the user has been recorded. On PostgreSQL, another
 * write may have changed a memory since it was read; this write then runs again.
 */
export async function removeCounted(
  tx: WriteTx,
  { projectId, userId }: UserRef,
  rows: readonly Removed[],
): Promise<void> {
  const user = [projectId, userId] as const;
  const ids = rows.map(({ id }) => id);
  const changes = rows.map(({ change }) => change);
  const range = [Math.min(...changes), Math.max(...changes)];
  const memories = deleteByIds(tx)(ids);
  const work = [...deleteTasks(ids), ...deleteVectors(ids)];
  const [deleted] = await Promise.all([
    Promise.all(memories.map(({ text, ids }) => tx.run(text, [...user, ...range, ...ids]))),
    ...work.map(({ text, ids }) => tx.run(text, [...user, ...ids])),
    removeFromResponses(tx, projectId, rows),
    dropSnapshot(tx, projectId, userId),
    dropPartsOf(tx, user, changes),
  ]);
  const count = deleted.reduce((sum, some) => sum + some, 0);
  if (count !== rows.length) throw new WriteConflict();
  await tx.noteRemoved('memory');
}

/**
 * A memory that has changed since the rows were read has a later change than each of them had. The
 * plus keeps databases from reading all memories with such changes by another index.
 */
const deleteByIds = ({ dialect }: Tx) =>
  overIds(
    5,
    (ids) => `DELETE FROM memories ${dialect.memoriesById}
      WHERE project_id = CAST($1 AS bigint) AND user_id = CAST($2 AS text) AND id IN (${ids})
        AND +last_change BETWEEN CAST($3 AS bigint) AND CAST($4 AS bigint)`,
  );

const ofMemories = (ids: string) =>
  `WHERE project_id = CAST($1 AS bigint) AND user_id = CAST($2 AS text) AND memory_id IN (${ids})`;
const deleteTasks = overIds(3, (ids) => `DELETE FROM tasks ${ofMemories(ids)}`);
const deleteVectors = overIds(3, (ids) => `DELETE FROM vectors ${ofMemories(ids)}`);

/**
 * Deletes at most `limit` memories that have expired by `now`. Of several servers, one whose clock
 * is ahead deletes none early.
 */
export async function removeExpired(
  tx: WriteTx,
  { now, limit }: { now: number; limit: number },
): Promise<{ removed: number; more: boolean }> {
  const found = await tx.all<Removed & UserRef>(
    `SELECT project_id AS "projectId", user_id AS "userId", id, bytes, last_change AS change
     FROM memories
     WHERE expires_at <= CAST($1 AS bigint) AND expires_at <= ${tx.dialect.sharedClock('$1')}
     ORDER BY expires_at LIMIT CAST($2 AS bigint)`,
    [now, limit],
  );
  const rows = firstBytes(found, bytesPerPart);
  const users = Map.groupBy(rows, ({ projectId, userId }) => keyOfUser(projectId, userId));
  await Promise.all(
    [...users.values()].map(async (own) => {
      const [user] = own;
      if (user !== undefined) await removeMemories(tx, user, own);
    }),
  );
  return { removed: rows.length, more: found.length === limit || rows.length < found.length };
}
