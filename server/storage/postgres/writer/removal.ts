import { bucketOf, bucketOfId } from '../../../bucket.ts';
import { erasedResponse } from '../../../memory/responses.ts';
import type { Storage } from '../../storage.ts';
import { byKey, type MemoryRow } from '../row.ts';
import {
  overPlaces,
  overRows,
  query,
  type Run,
  type Statement,
  statement,
  type Value,
} from '../statement.ts';
import type { Work } from '../transaction.ts';
import type { Effect } from './idempotency.ts';
import { addMemories, lockUsers, removeEmptyUsers } from './users.ts';
import type { Plan } from './write-queue.ts';

type Erase = Parameters<Storage['eraseUser']>[0];
type Removed = Pick<MemoryRow, 'id' | 'bucket' | 'userId'>;

const place = ['int8', 'int2', 'text'];

const removeTasks = overPlaces(
  place,
  (values, inBucket) => `DELETE FROM tasks
    WHERE (project_id, bucket, memory_id) IN (${values})${inBucket('bucket')}`,
);
/**
 * Searches all buckets, because a response is stored in the bucket of its key, not of its memory.
 */
const removeTexts = overRows(
  ['int8', 'text'],
  (values) => `UPDATE idempotency_keys SET body = NULL, version = NULL
    WHERE (project_id, memory_id) IN (${values})`,
);
const removeLocations = overPlaces(
  place,
  (values, inBucket) => `DELETE FROM memory_locations
    WHERE (project_id, bucket, id) IN (${values})${inBucket('bucket')}`,
);
const removeVectors = overPlaces(
  place,
  (values, inBucket) => `DELETE FROM vectors
    WHERE (project_id, bucket, memory_id) IN (${values})${inBucket('bucket')}`,
);
const removeRows = overPlaces(
  place,
  (values, inBucket) => `DELETE FROM memories
    WHERE (project_id, bucket, id) IN (${values})${inBucket('bucket')}`,
);

/**
 * Deletes memories, their tasks, their vectors and their text in stored responses. The caller must
 * have locked the users' rows and reduced their counts.
 */
export function removeMemories(projectId: number, memories: readonly Removed[]): Statement[] {
  const places = memories.map(({ bucket, id }): Value[] => [projectId, bucket, id]).sort(byKey);
  const locations = memories.map(({ id }): Value[] => [projectId, bucketOfId(id), id]).sort(byKey);
  return [
    ...removeTasks(places),
    ...removeTexts(places.map(([project = null, , id = null]) => [project, id])),
    ...removeLocations(locations),
    ...removeVectors(places),
    ...removeRows(places),
    ...removeEmptyUsers(memories.map(({ userId }) => ({ projectId, userId }))),
  ];
}

/** The deadline for an erasure, in ms. The user's other writes wait until the erasure ends. */
const eraseWithinMs = 10 * 60_000;

/** Erases a user in one transaction, because only this user's writes wait for the erasure. */
export function planErasure(write: Erase): Plan {
  return { effect: (run) => erase(run, write), deadlineMs: eraseWithinMs };
}

async function erase(run: Run, { projectId, userId, at }: Erase): ReturnType<Effect> {
  const user = [projectId, bucketOf(userId), userId];
  const ofUser = 'project_id = $1::int8 AND bucket = $2::int2 AND user_id = $3';
  const ids = `SELECT id FROM memories WHERE ${ofUser}`;
  await lockUsers(run, [{ projectId, userId }]);
  const rows = await run([
    statement(
      `UPDATE idempotency_keys SET body = NULL, version = NULL
       WHERE project_id = $1::int8 AND memory_id IN (${ids})`,
      ...user,
    ),
    statement(
      `DELETE FROM memory_locations WHERE (project_id, bucket, id) IN (
         SELECT project_id, id_bucket, id FROM memories
         WHERE ${ofUser} AND id_bucket IS NOT NULL)`,
      ...user,
    ),
    statement(
      `DELETE FROM tasks
       WHERE project_id = $1::int8 AND bucket = $2::int2 AND memory_id IN (${ids})`,
      ...user,
    ),
    statement(
      `DELETE FROM vectors
       WHERE project_id = $1::int8 AND bucket = $2::int2 AND memory_id IN (${ids})`,
      ...user,
    ),
    statement(
      `WITH erased AS (DELETE FROM memories WHERE ${ofUser} RETURNING expires_at)
       SELECT count(*)::float8 AS count FROM erased WHERE expires_at IS NULL OR expires_at > $4::int8`,
      ...user,
      at,
    ),
    statement(`DELETE FROM users WHERE ${ofUser}`, ...user),
  ]);
  const [erased] = (rows[4] ?? []) as { count: number }[];
  // mutate-ignore constant: an aggregate has a row
  return { response: erasedResponse(erased?.count ?? 0), last: [] };
}

type Expired = Removed & { projectId: number };

const stillExpired = overPlaces(
  [...place, 'int8'],
  (values, inBucket) => `SELECT m.project_id::float8 AS "projectId", m.bucket, m.id,
      m.user_id AS "userId"
    FROM (${values}) AS p (project_id, bucket, id, now) JOIN memories AS m
      ON m.project_id = p.project_id AND m.bucket = p.bucket AND m.id = p.id
    WHERE m.expires_at <= p.now${inBucket('m.bucket')}`,
);

export function removeExpired(now: number, limit: number): Work<number> {
  return async (run) => {
    const candidates = await query<Expired>(
      run,
      `SELECT project_id::float8 AS "projectId", bucket, id, user_id AS "userId"
       FROM memories WHERE expires_at <= $1::int8 ORDER BY expires_at LIMIT $2::int4`,
      now,
      limit,
    );
    // mutate-ignore removal: no candidates have no effect
    if (candidates.length === 0) return { last: [], result: 0 };
    const places = candidates.map(({ projectId, bucket, id }): Value[] => {
      return [projectId, bucket, id, now];
    });
    const { rows } = await lockUsers(run, candidates, stillExpired(places));
    const expired = rows as Expired[];
    const projects = Map.groupBy(expired, ({ projectId }) => projectId);
    const last = [
      ...addMemories(expired.map((one) => ({ ...one, added: -1 }))),
      ...[...projects].flatMap(([projectId, memories]) => removeMemories(projectId, memories)),
      // `lockUsers` creates the row of a user whose last memory another server has just deleted.
      ...removeEmptyUsers(candidates),
    ];
    return { last, result: expired.length };
  };
}
