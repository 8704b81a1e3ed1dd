import { count } from '../../metrics/counts.ts';
import { indexFormat, SearchIndex } from '../../search/index.ts';
import { countText } from '../../threads/garbage.ts';
import type { Tx, WriteOperation, Writer } from '../engine.ts';
import type { CachedIndex } from '../index-cache.ts';
import type { UserRef } from '../project-storage.ts';
import { keyOfUser } from './users.ts';

/*
 * A snapshot is a user's search index as it is stored, so that a reader thread does not have to
 * build it from the user's memories. `users.snapshot_change` says up to which change it is
 * complete. It is a cache: a snapshot that is damaged or of another format is ignored and replaced.
 *
 *   none -> stored by a reader thread -> replaced, when enough has been added
 *                                    \-> dropped, by a write that removes text
 */

type User = readonly [projectId: number, userId: string];

type Stored = {
  projectId: number;
  userId: string;
  /** The user's `snapshot_change` when the index was built. */
  from: number;
  /** The change up to which the index is complete. */
  change: number;
  /** Bytes, as a string of Latin-1; null if there are too many. */
  data: string | null;
};

/** Building the index of fewer memories takes no longer than reading a snapshot. */
export const minMemories = 200;
/** A snapshot is replaced when this share of the index is missing in it. */
const replacedShare = 0.25;
/** A larger snapshot is not stored, because other writes wait while it is written or dropped. */
const maxBytes = 8 * 1024 * 1024;
/** A reader thread would be busy for too long with more text of a user that nobody searches. */
const maxTextBytes = 16 * 1024 * 1024;
const checksumBytes = 8;

export function isSnapshotDue({ unstored, index }: CachedIndex): boolean {
  return unstored >= Math.max(minMemories, index.size * replacedShare);
}

/** Hands the index over to be stored. */
export async function handOver(write: Writer, cached: CachedIndex, user: User): Promise<void> {
  const [projectId, userId] = user;
  const { lastChange: change, snapshotChange: from } = cached;
  cached.unstored = 0;
  const bytes = pack(cached.index.toBytes(), checksumSeed(user, change));
  const data = bytes.length > maxBytes ? null : bytes.toString('latin1');
  await write(storeSnapshot, { projectId, userId, from, change, data });
}

/** Stores nothing, and returns false, if text of the user has been removed in the meantime. */
export const storeSnapshot: WriteOperation<Stored, boolean> = {
  name: 'storeSnapshot',
  isBackground: true,
  users: ({ projectId, userId }) => [keyOfUser(projectId, userId)],
  async run(tx, { projectId, userId, from, change, data }) {
    const user = [projectId, userId] as const;
    const isCurrent = await tx.run(
      `UPDATE users SET snapshot_change = CAST($3 AS bigint)
       WHERE project_id = $1 AND user_id = $2 AND snapshot_change = CAST($4 AS bigint)`,
      ...user,
      change,
      from,
    );
    if (isCurrent === 0 || data === null) return false;
    await tx.run(
      `INSERT INTO snapshots (project_id, user_id, data) VALUES ($1, $2, $3)
       ON CONFLICT (project_id, user_id) DO UPDATE SET data = excluded.data`,
      ...user,
      Buffer.from(data, 'latin1'),
    );
    return true;
  },
};

/** Returns the first user after this one whose snapshot is to be stored or replaced. */
export async function nextUnstored(tx: Tx, after: UserRef | null): Promise<UserRef | null> {
  const { projectId, userId } = after ?? { projectId: -1, userId: '' };
  const next = await tx.one<UserRef>(
    `SELECT project_id AS "projectId", user_id AS "userId" FROM users
     WHERE (project_id, user_id) > (CAST($1 AS bigint), CAST($2 AS text))
       AND memories >= ${String(minMemories)} AND bytes <= ${String(maxTextBytes)}
       AND last_change - snapshot_change >= ${String(minMemories)}
       AND last_change - snapshot_change >= memories * ${String(replacedShare)}
     ORDER BY project_id, user_id LIMIT 1`,
    projectId,
    userId,
  );
  return next ?? null;
}

/** Returns the index that is complete up to this change; null if there is none. */
export async function readSnapshot(
  tx: Tx,
  user: User,
  change: number,
): Promise<SearchIndex | null> {
  const stored = await tx.one<{ data: Uint8Array }>(
    'SELECT data FROM snapshots WHERE project_id = $1 AND user_id = $2',
    ...user,
  );
  if (stored === undefined) return null;
  const bytes = unpack(stored.data, checksumSeed(user, change));
  if (bytes === null) return null;
  count('memory_search_index_restores_total', {});
  countText(stored.data.length);
  return SearchIndex.fromBytes(bytes);
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
      ...user,
    ),
    tx.run('DELETE FROM snapshots WHERE project_id = $1 AND user_id = $2', ...user),
  ]);
}

/** With this seed, no other user's snapshot has the right checksum, and none of another format. */
function checksumSeed([projectId, userId]: User, change: number): bigint {
  return Bun.hash.xxHash64(JSON.stringify([indexFormat, projectId, userId, change]));
}

function pack(bytes: Uint8Array, seed: bigint): Buffer {
  const packed = Bun.zstdCompressSync(bytes, { level: 1 });
  const checksum = Buffer.alloc(checksumBytes);
  checksum.writeBigUInt64LE(Bun.hash.xxHash64(packed, seed));
  return Buffer.concat([checksum, packed]);
}

function unpack(data: Uint8Array, seed: bigint): Uint8Array | null {
  if (data.length <= checksumBytes) return null;
  const packed = data.subarray(checksumBytes);
  const checksum = Buffer.from(data.subarray(0, checksumBytes)).readBigUInt64LE();
  if (checksum !== Bun.hash.xxHash64(packed, seed)) return null;
  return Bun.zstdDecompressSync(packed);
}
