import type { Tx, WriteOperation, Writer } from '../engine.ts';
import type { CachedVectors, VectorPart } from '../index-cache.ts';
import type { UserRef } from '../types/project.ts';
import { withChecksum, withoutChecksum } from './checksum.ts';
import { keyOfUser, lockUser } from './users.ts';

/*
 * A part is the vectors of some hundred of a user's memories in one row, so that a reader thread
 * does not have to read a row for each memory: those of all memories whose `last_change` is greater
 * than the part's `after_change`, but not than its `last_change`. It is a cache. A part is stored
 * by the reader thread that has read the rows, and dropped by each write to one of its memories.
 */

type User = readonly [projectId: number, userId: string];

type Stored = UserRef & {
  modelId: number;
  after: number;
  upTo: number;
  memories: number;
  /** Bytes, as a string of Latin-1; empty if there are too many. */
  data: string;
};

/** The version of stored parts. */
const format = 1; // mutate-ignore constant: no part of another version exists
/** A larger part is not stored, because other writes wait while it is written or dropped. */
const maxBytes = 8 * 1024 * 1024;

/** Hands a part over to be stored. */
export async function storePart(
  write: Writer,
  { table, modelId }: CachedVectors,
  user: User,
  { after, upTo, ids }: VectorPart,
): Promise<void> {
  const [projectId, userId] = user;
  const part = { modelId, after, upTo };
  const bytes = withChecksum(table.toColumns(ids), ownerOf(user, part));
  const data = bytes.length > maxBytes ? '' : bytes.toString('latin1');
  await write(storeVectorPart, { projectId, userId, ...part, memories: ids.length, data });
}

/** Stores nothing, and returns false, if one of the memories has changed in the meantime. */
export const storeVectorPart: WriteOperation<Stored, boolean> = {
  isBackground: true, // mutate-ignore boolean: affects only when it runs
  users: ({ projectId, userId }) => [keyOfUser(projectId, userId)],
  async run(tx, { projectId, userId, modelId, after, upTo, memories, data }) {
    const user = [projectId, userId] as const;
    await lockUser(tx, ...user);
    // A write to a memory gives it a later change.
    const present = await tx.one<{ memories: number }>(
      `SELECT count(*) AS memories FROM memories
       WHERE project_id = CAST($1 AS bigint) AND user_id = CAST($2 AS text)
         AND last_change > CAST($3 AS bigint) AND last_change <= CAST($4 AS bigint)`,
      [...user, after, upTo],
    );
    if (present?.memories !== memories) return false;
    await dropParts(tx, user, after, upTo);
    await tx.run(
      `INSERT INTO vector_parts
         (project_id, user_id, model_id, after_change, last_change, memories, data)
       VALUES ($1, $2, $3, $4, $5, $6, $7)`,
      [...user, modelId, after, upTo, memories, Buffer.from(data, 'latin1')],
    );
    return true;
  },
};

/** `bytes` is null if the part is not the very next one, or cannot be used. */
type Part = { after: number; upTo: number; bytes: Uint8Array | null };

/** Returns the first part that begins with, or after, the vectors that are cached. */
export async function nextPart(
  tx: Tx,
  user: User,
  { change, modelId }: CachedVectors,
  upTo: number,
): Promise<Part | null> {
  const found = await tx.one<{ after: number; upTo: number; data: Uint8Array | null }>(
    `SELECT after_change AS after, last_change AS "upTo",
       CASE WHEN after_change = CAST($3 AS bigint) THEN data END AS data FROM vector_parts
     WHERE project_id = CAST($1 AS bigint) AND user_id = CAST($2 AS text)
       AND last_change > CAST($3 AS bigint) AND after_change >= CAST($3 AS bigint)
       AND last_change <= CAST($4 AS bigint)
     ORDER BY last_change LIMIT 1`,
    [...user, change, upTo],
  );
  if (found === undefined) return null;
  const { data, ...part } = found;
  return { ...part, bytes: data && withoutChecksum(data, ownerOf(user, { modelId, ...part })) };
}

/** Deletes the parts with memories of these changes, in the transaction that changes them. */
export async function dropParts(tx: Tx, user: User, after: number, upTo: number): Promise<void> {
  await tx.run(
    `DELETE FROM vector_parts
     WHERE project_id = $1 AND user_id = $2 AND last_change > CAST($3 AS bigint)
       AND after_change < CAST($4 AS bigint)`,
    [...user, after, upTo],
  );
}

/** Like `dropParts`, for changes that may be far apart. */
export async function dropPartsOf(tx: Tx, user: User, changes: readonly number[]): Promise<void> {
  // mutate-ignore constant: other parts are not dropped
  const [after, upTo] = [Math.min(...changes) - 1, Math.max(...changes)];
  // mutate-ignore removal: affects only speed
  if (upTo - after === 1) return dropParts(tx, user, after, upTo);
  const parts = await tx.all<{ after: number; upTo: number }>(
    `SELECT after_change AS after, last_change AS "upTo" FROM vector_parts
     WHERE project_id = CAST($1 AS bigint) AND user_id = CAST($2 AS text)
       AND last_change > CAST($3 AS bigint) AND after_change < CAST($4 AS bigint)`,
    [...user, after, upTo],
  );
  const dropped = parts.filter((part) =>
    changes.some((change) => change > part.after && change <= part.upTo),
  );
  await Promise.all(dropped.map((part) => dropParts(tx, user, part.after, part.upTo)));
}

/** No other part is taken for this one, and none of another format. */
function ownerOf(
  [projectId, userId]: User,
  { modelId, after, upTo }: { modelId: number; after: number; upTo: number },
): (string | number)[] {
  return [format, projectId, userId, modelId, after, upTo];
}
