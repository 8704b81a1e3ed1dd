import { bucketOf } from '../../../bucket.ts';
import { deletedBody } from '../../../memory/responses.ts';
import { keyReused } from '../../refusals.ts';
import type { StoredResponse, Write, WriteResult } from '../../storage.ts';
import { byKey } from '../row.ts';
import { overRows, type Statement, statement, type Value } from '../statement.ts';
import type { Transaction, Work } from '../transaction.ts';

/**
 * The effect of a write that owns its key. `bucket` is the bucket of the memory whose text is in
 * the response, if any.
 */
export type Effect = (
  tx: Transaction,
) => Promise<{ response: StoredResponse; bucket?: number; last: Statement[] }>;

/** A response and the key that it is stored under. */
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

/**
 * Stores responses with their keys, sorted, so that transactions that wait for keys cannot
 * deadlock.
 */
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

/**
 * Runs a write once per key. The key is inserted first, which waits for a concurrent request with
 * the same key; then that request's response is returned.
 */
export function once(write: Write, uptime: () => number, effect: Effect): Work<WriteResult> {
  return async (tx) => {
    const replay = await claimKey(tx, write, uptime());
    if (replay !== null) return { last: [], result: { response: replay, replayed: true } };
    const { response, bucket, last } = await effect(tx);
    const stored = storeResponse({ write, response, bucket: bucket ?? null });
    return { last: [...last, ...stored], result: { response, replayed: false } };
  };
}

/** The response stored under the key; null if the key was new and now belongs to this write. */
async function claimKey(
  tx: Transaction,
  { projectId, idempotency, at }: Write,
  uptime: number,
): Promise<StoredResponse | null> {
  if (idempotency === null) return null;
  const { scope, key, fingerprint } = idempotency;
  const place = [projectId, bucketOf(key), scope, key];
  const [claimed, found] = await tx.run(
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
  );
  if (claimed?.length === 1) return null;
  const row = found?.[0] as Found | undefined;
  // Deleted between the two statements, at the end of its retention.
  if (row === undefined) throw new Error('an idempotency key was deleted while it was being read');
  if (row.fingerprint !== fingerprint) throw keyReused();
  return shownResponse(row, await hasExpired(tx, projectId, row, at));
}

/** The memory is in another bucket than the key, so a join would have to look in all of them. */
async function hasExpired(
  tx: Transaction,
  projectId: number,
  { memoryId, memoryBucket, body }: Found,
  at: number,
): Promise<boolean> {
  if (memoryId === null || memoryBucket === null || body === null) return false;
  const [rows = []] = await tx.run(
    statement(
      `SELECT 1 AS one FROM memories WHERE project_id = $1::int8 AND bucket = $2::int2 AND id = $3
         AND expires_at <= $4::int8`,
      projectId,
      memoryBucket,
      memoryId,
      at,
    ),
  );
  return rows.length > 0;
}

/** Without the text of a deleted memory. */
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
 * Deletes at most `limit` keys that are past their retention by both clocks. Keys that another
 * transaction has locked are left for the next run, if the database can skip them.
 */
export function sweepKeys(
  before: { createdAt: number; uptime: number },
  { limit, isDistributed }: { limit: number; isDistributed: boolean },
): Statement {
  const isOld = 'stored_uptime < $1::int8 AND created_at < $2::int8';
  // Citus locks rows of one bucket at a time only.
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
