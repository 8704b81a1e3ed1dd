import { bucketOf } from '../../../bucket.ts';
import { deletedBody, newResult } from '../../../memory/responses.ts';
import { keyReused } from '../../refusals.ts';
import type { NewResponse, StoredResponse, Write, WriteResult } from '../../storage.ts';
import { byKey } from '../row.ts';
import { overRows, query, type Run, type Statement, statement, type Value } from '../statement.ts';
import type { Work } from '../transaction.ts';

/** Performs a write whose key is new. `bucket` is the bucket of the response's memory, if any. */
export type Effect = (
  run: Run,
) => Promise<{ response: NewResponse; bucket?: number | null; last: Statement[] }>;

export type KeyedResponse = { write: Write; response: StoredResponse; bucket: number | null };

type Found = Omit<StoredResponse, 'body'> & {
  fingerprint: string;
  body: string | null;
  memoryBucket: number | null;
};

const insertKeys = overRows(
  ['int8', 'int2', 'text', 'text', 'text', 'int2', 'text', 'text', 'int2', 'int8', 'int8', 'int8'],
  (values) => `INSERT INTO idempotency_keys (project_id, bucket, scope, key, fingerprint, status,
    body, memory_id, memory_bucket, version, stored_uptime, created_at) ${values}`,
);

/** Inserts responses in the order of their keys, so that two transactions cannot deadlock. */
export function keyInserts(responses: readonly KeyedResponse[], uptime: number): Statement[] {
  const rows = responses.flatMap(({ write, response, bucket }): Value[][] => {
    const { projectId, idempotency, at } = write;
    if (idempotency === null) return [];
    const { scope, key, fingerprint } = idempotency;
    const { status, body, memoryId, version } = response;
    const shown = [status, body, memoryId, bucket, version];
    return [[projectId, bucketOf(key), scope, key, fingerprint, ...shown, uptime, at]];
  });
  return insertKeys(rows.sort(byKey));
}

/** Runs a write once per key. Inserting a key waits for a concurrent request with the same key. */
export function onceByKey(write: Write, uptime: () => number, effect: Effect): Work<WriteResult> {
  return async (run) => {
    const replay = await claimKey(run, write, uptime());
    if (replay !== null) return { last: [], result: { response: replay, replayed: true } };
    const { response, bucket, last } = await effect(run);
    const stored = storeResponse({ write, response, bucket: bucket ?? null });
    return { last: [...last, ...stored], result: newResult(response) };
  };
}

/** Returns the response stored under the key, or null if the key was new and is now inserted. */
async function claimKey(
  run: Run,
  { projectId, idempotency, at }: Write,
  uptime: number,
): Promise<StoredResponse | null> {
  if (idempotency === null) return null;
  const { scope, key, fingerprint } = idempotency;
  const place = [projectId, bucketOf(key), scope, key];
  const [claimed, found] = await run([
    statement(
      `INSERT INTO idempotency_keys (project_id, bucket, scope, key, fingerprint, status,
         stored_uptime, created_at)
       VALUES ($1::int8, $2::int2, $3, $4, $5, 0, $6::int8, $7::int8)
       ON CONFLICT DO NOTHING RETURNING 1 AS one`,
      ...place,
      fingerprint,
      uptime,
      at,
    ),
    statement(
      `SELECT fingerprint, status, body, memory_id AS "memoryId",
         memory_bucket AS "memoryBucket", version::float8 AS version
       FROM idempotency_keys
       WHERE project_id = $1::int8 AND bucket = $2::int2 AND scope = $3 AND key = $4`,
      ...place,
    ),
  ]);
  if (claimed?.length === 1) return null;
  const row = found?.[0] as Found | undefined;
  // The key's retention ended, and the key was deleted between the two statements.
  if (row === undefined) throw new Error('an idempotency key was deleted while it was being read');
  if (row.fingerprint !== fingerprint) throw keyReused();
  return shownResponse(row, await hasExpired(run, projectId, row, at));
}

/**
 * Whether the memory in the response has expired. The query is separate, because a join would
 * search all buckets: the memory's bucket can differ from the key's.
 */
async function hasExpired(
  run: Run,
  projectId: number,
  { memoryId, memoryBucket, body }: Found,
  at: number,
): Promise<boolean> {
  if (memoryId === null || memoryBucket === null || body === null) return false;
  const rows = await query(
    run,
    `SELECT 1 AS one FROM memories WHERE project_id = $1::int8 AND bucket = $2::int2 AND id = $3
       AND expires_at <= $4::int8`,
    projectId,
    memoryBucket,
    memoryId,
    at,
  );
  return rows.length > 0;
}

/** Returns the response without the text of a deleted or expired memory. */
function shownResponse(
  { fingerprint: _, memoryBucket: __, ...row }: Found,
  isExpired: boolean,
): StoredResponse {
  const { memoryId, body } = row;
  if (memoryId !== null && (isExpired || body === null)) {
    return { ...row, body: deletedBody(memoryId), version: null };
  }
  return { ...row, body: body ?? '' };
}

function storeResponse({ write, response, bucket }: KeyedResponse): Statement[] {
  const { projectId, idempotency } = write;
  if (idempotency === null) return [];
  const { scope, key } = idempotency;
  const { status, body, memoryId, version } = response;
  return [
    statement(
      `UPDATE idempotency_keys SET status = $5::int2, body = $6, memory_id = $7,
         memory_bucket = $8::int2, version = $9::int8
       WHERE project_id = $1::int8 AND bucket = $2::int2 AND scope = $3 AND key = $4`,
      projectId,
      bucketOf(key),
      scope,
      key,
      status,
      body,
      memoryId,
      bucket,
      version,
    ),
  ];
}

/**
 * Deletes at most `limit` keys that are old by both the wall clock and the uptime. Skips keys that
 * another transaction has locked, unless the tables are distributed.
 */
export function sweepKeys(
  before: { createdAt: number; uptime: number },
  { limit, isDistributed }: { limit: number; isDistributed: boolean },
): Statement {
  const isOld = 'stored_uptime < $1::int8 AND created_at < $2::int8';
  // Citus can lock rows of only one bucket per statement.
  const lock = isDistributed ? '' : 'FOR UPDATE SKIP LOCKED';
  return statement(
    `DELETE FROM idempotency_keys WHERE ${isOld} AND (project_id, bucket, scope, key) IN (
       SELECT project_id, bucket, scope, key FROM idempotency_keys WHERE ${isOld}
       ORDER BY stored_uptime LIMIT $3::int4 ${lock})
     RETURNING 1 AS one`,
    before.uptime,
    before.createdAt,
    limit,
  );
}
