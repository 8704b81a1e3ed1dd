import { count } from '../../metrics/counts.ts';
import { countText, freeBytes } from '../../threads/garbage.ts';
import type { ReaderTx, ReadOperation, Tx, WriteOperation, Writer } from '../engine.ts';
import type { CachedIndex } from '../index-cache.ts';
import type { UserRef } from '../types/project.ts';
import { withChecksum, withoutChecksum } from './checksum.ts';
import { keyOfUser } from './users.ts';
import { storePart } from './vector-parts.ts';

/*
 * A snapshot is a user's search index as it is stored, so that a reader thread does not have to
 * build it from the user's memories. `users.snapshot_change` says up to which change it is
 * complete. It is a cache: a snapshot that is damaged or of another format is ignored and replaced.
 *
 *   none -> stored by a reader thread -> replaced, when enough has been added
 *                                    \-> dropped, by a write that removes text
 */

type User = readonly [projectId: number, userId: string];

type Stored = UserRef & {
  /** The user's `snapshot_change` when the index was built. */
  from: number;
  /** The change up to which the index is complete. */
  change: number;
  /** Bytes, as a string of Latin-1; null if there are too many. */
  data: string | null;
};

/** Building the index of fewer memories takes no longer than reading a snapshot. */
export const minMemories = 200; // mutate-ignore constant: affects only speed
/** A snapshot is replaced when this share of the index is missing in it. */
const replacedShare = 0.25;
/** A larger snapshot is not stored, because other writes wait while it is written or dropped. */
const maxBytes = 8 * 1024 * 1024;
/** The snapshot of an index that takes more memory than this is rarely small enough. */
const maxIndexBytes = 16 * maxBytes; // mutate-ignore constant: affects only cost
/**
 * With more text or memories of a user that nobody searches, a reader thread would be busy for too
 * long, and take too much memory. More memories rarely fit, either, even if they are short.
 */
const maxTextBytes = 8 * 1024 * 1024;
const maxMemories = 200_000; // mutate-ignore constant: affects only cost

/** No other user's snapshot is taken for this one, and none of another format or change. */
const ownerOf = ({ format }: CachedIndex, user: User, change: number) => [format, ...user, change];

/**
 * Stores, after the reply, what the read has built, if it is worth it: the index, and vectors that
 * were read row by row. A sweep stores all.
 */
export function storeBuilt(tx: ReaderTx, cached: CachedIndex, user: User, isSweep = false): void {
  const { index, unstored, vectors } = cached;
  const least = isSweep ? 1 : minMemories;
  // mutate-ignore boundary: one change later
  const isDue = unstored >= (isSweep ? least : Math.max(least, index.size * replacedShare));
  const read = vectors?.unstored.splice(0) ?? [];
  const parts = read.filter(({ ids }) => ids.length >= least);
  // mutate-ignore removal: affects only speed
  if (!isDue && parts.length === 0) return;
  tx.afterReply(async (write) => {
    if (isDue) await storeIndex(write, cached, user);
    if (vectors !== null) for (const part of parts) await storePart(write, vectors, user, part);
    // The copies are garbage now, and after a sweep the index is, too.
    countText(cached.bytes);
  });
}

async function storeIndex(write: Writer, cached: CachedIndex, user: User): Promise<void> {
  const [projectId, userId] = user;
  const { lastChange: change, snapshotChange: from } = cached;
  cached.unstored = 0; // mutate-ignore constant: one change sooner
  // mutate-ignore boundary: no index has exactly this size
  const data = cached.index.bytes > maxIndexBytes ? null : pack(cached, user);
  await write(storeSnapshot, { projectId, userId, from, change, data });
}

function pack(cached: CachedIndex, user: User): string | null {
  const packed = Bun.zstdCompressSync(cached.index.toBytes(), { level: 1 });
  const bytes = withChecksum(packed, ownerOf(cached, user, cached.lastChange));
  // mutate-ignore boundary: no index has exactly this size
  return bytes.length > maxBytes ? null : bytes.toString('latin1');
}

/**
 * Stores nothing, and returns false, if text of the user has been removed in the meantime, or if a
 * failover has lost the changes in the snapshot.
 */
export const storeSnapshot: WriteOperation<Stored, boolean> = {
  isBackground: true,
  users: ({ projectId, userId }) => [keyOfUser(projectId, userId)],
  async run(tx, { projectId, userId, from, change, data }) {
    const user = [projectId, userId] as const;
    const isCurrent = await tx.run(
      `UPDATE users SET snapshot_change = CAST($3 AS bigint)
       WHERE project_id = $1 AND user_id = $2 AND snapshot_change = CAST($4 AS bigint)
         AND last_change >= CAST($3 AS bigint)`,
      [...user, change, from],
    );
    if (isCurrent === 0 || data === null) return false;
    await tx.run(
      `INSERT INTO snapshots (project_id, user_id, data) VALUES ($1, $2, $3)
       ON CONFLICT (project_id, user_id) DO UPDATE SET data = excluded.data`,
      [...user, Buffer.from(data, 'latin1')],
    );
    return true;
  },
};

/**
 * Returns the first user after this one with much to store: with many changes since the snapshot,
 * or, once all memories are embedded, with many that are not in parts. Null if there is none.
 */
export const nextUnstored: ReadOperation<{ after: UserRef | null }, UserRef | null> = {
  async run(tx, { after }) {
    // mutate-ignore constant: ids of projects are positive
    const { projectId, userId } = after ?? { projectId: -1, userId: '' };
    const inParts = `(SELECT coalesce(sum(p.memories), 0) FROM vector_parts AS p
      WHERE p.project_id = u.project_id AND p.user_id = u.user_id)`;
    const next = await tx.one<UserRef>(
      `SELECT project_id AS "projectId", user_id AS "userId" FROM users AS u
       WHERE (project_id, user_id) > (CAST($1 AS bigint), $2)
         AND memories BETWEEN ${minMemories} AND ${maxMemories} AND bytes <= ${maxTextBytes}
         AND (last_change - snapshot_change >= ${minMemories}
             AND last_change - snapshot_change >= memories * ${replacedShare}
           OR embedded_change = last_change AND memories - ${inParts} >= ${minMemories}
             AND memories - ${inParts} >= memories * ${replacedShare})
       ORDER BY project_id, user_id LIMIT 1`,
      [projectId, userId],
    );
    return next ?? null;
  },
};

/** Begins with the index in the user's snapshot, if there is one. */
export async function restore(tx: Tx, cached: CachedIndex, user: User): Promise<void> {
  const stored = await tx.one<{ data: Uint8Array }>(
    'SELECT data FROM snapshots WHERE project_id = $1 AND user_id = $2',
    user,
  );
  if (stored === undefined) return;
  const packed = withoutChecksum(stored.data, ownerOf(cached, user, cached.snapshotChange));
  if (packed === null) return;
  count('memory_search_index_restores_total', {});
  const bytes = Bun.zstdDecompressSync(packed);
  freeBytes(stored.data);
  cached.restore(bytes, cached.snapshotChange);
  freeBytes(bytes);
  // Small objects, such as ids, remain as garbage when the index is dropped.
  countText(stored.data.length / 2); // mutate-ignore constant: affects only memory
}

/**
 * Deletes the user's snapshot, in the same transaction in which text of the user is removed. A
 * snapshot that is being stored is refused from now on.
 */
export async function dropSnapshot(tx: Tx, projectId: number, userId: string): Promise<void> {
  const user = [projectId, userId] as const;
  await Promise.all([
    tx.run(
      'UPDATE users SET snapshot_change = last_change WHERE project_id = $1 AND user_id = $2',
      user,
    ),
    tx.run('DELETE FROM snapshots WHERE project_id = $1 AND user_id = $2', user),
  ]);
}
