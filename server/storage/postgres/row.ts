import { bucketOf, bucketOfId } from '../../bucket.ts';
import type { NewMemory, StoredMemory } from '../storage.ts';
import { overPlaces, overRows, type Statement, statement, type Value } from './statement.ts';
import type { ChangeNumber } from './writer/users.ts';

/*
 * Reads and writes a memory as its row and its task's row. Integers are read as float8, which is
 * exact up to 2^53, because the client returns int8 as text.
 */

/** The status is the indexing task's; a saved memory has no task. */
export const statusColumn = `CASE coalesce(t.state, 'complete')
  WHEN 'waiting' THEN 'processing' WHEN 'running' THEN 'processing'
  WHEN 'failed' THEN 'failed' ELSE 'complete' END AS status`;

/** A memory's columns under the names of StoredMemory. */
export const memoryColumns = `m.id, m.user_id AS "userId", m.type, m.content, m.metadata, m.source,
  m.external_id AS "externalId", m.occurred_at::float8 AS "occurredAt",
  m.expires_at::float8 AS "expiresAt", m.version::float8 AS version,
  m.created_at::float8 AS "createdAt",
  greatest(m.updated_at, t.updated_at)::float8 AS "updatedAt", ${statusColumn}`;

export const withTask = `LEFT JOIN tasks AS t ON t.project_id = m.project_id
  AND t.bucket = m.bucket AND t.memory_id = m.id AND t.kind = 'index'`;

/** An expired memory does not exist, even if its row has not been deleted yet. */
export const notExpired = (now: string) => `(m.expires_at IS NULL OR m.expires_at > ${now})`;

/** The memory's time: when the event happened, or when it was created. */
export const memoryTime = 'coalesce(m.occurred_at, m.created_at)';

export type MemoryRow = StoredMemory & { bucket: number };

/** The memory with this id in a bucket, expired or not. */
export function memoryIn(projectId: number, bucket: number, id: string): Statement {
  return statement(
    `SELECT m.bucket, ${memoryColumns} FROM memories AS m ${withTask}
     WHERE m.project_id = $1::int8 AND m.bucket = $2::int2 AND m.id = $3`,
    projectId,
    bucket,
    id,
  );
}

/** The bucket of the memory with this id, if it differs from the bucket in the id. */
export function locationOf(projectId: number, id: string): Statement {
  return statement(
    `SELECT location FROM memory_locations
     WHERE project_id = $1::int8 AND bucket = $2::int2 AND id = $3`,
    projectId,
    bucketOfId(id),
    id,
  );
}

/** Whether a memory can have this id. The database does not accept every text. */
export function isId(text: string): boolean {
  return /^mem_[\w-]{1,64}$/.test(text);
}

type Run = (...statements: Statement[]) => Promise<Record<string, unknown>[][]>;

/** The memory, expired or not. One round trip for ids created by this service. */
export async function findMemory(
  run: Run,
  projectId: number,
  id: string,
): Promise<MemoryRow | null> {
  if (!isId(id)) return null;
  const bucket = bucketOfId(id);
  const [[here], [elsewhere]] = (await run(
    memoryIn(projectId, bucket, id),
    locationOf(projectId, id),
  )) as [MemoryRow[], { location: number }[]];
  if (here !== undefined || elsewhere === undefined) return here ?? null;
  const [[there]] = (await run(memoryIn(projectId, elsewhere.location, id))) as [MemoryRow[]];
  return there ?? null;
}

const findLocations = overPlaces(
  ['int8', 'int2', 'text'],
  (values, inBucket) => `SELECT id, bucket, location FROM memory_locations
    WHERE (project_id, bucket, id) IN (${values})${inBucket('bucket')}`,
);

/** What `find` returns of the memories of these ids; one round trip for ids that were made here. */
export async function findByIds(
  run: Run,
  projectId: number,
  ids: readonly string[],
  find: (places: Value[][]) => Statement[],
): Promise<Record<string, unknown>[]> {
  const places = ids.map((id): Value[] => [projectId, bucketOfId(id), id]).sort(byKey);
  const here = find(places);
  const rows = await run(...here, ...findLocations(places));
  const located = rows.slice(here.length).flat() as {
    id: string;
    bucket: number;
    location: number;
  }[];
  const elsewhere = located.filter(({ bucket, location }) => bucket !== location);
  const found = rows.slice(0, here.length).flat();
  if (elsewhere.length === 0) return found;
  const there = elsewhere.map(({ id, location }): Value[] => [projectId, location, id]);
  return [...found, ...(await run(...find(there.sort(byKey)))).flat()];
}

/** A memory to insert. Its change has been counted in the user's row. */
export type InsertedMemory = {
  projectId: number;
  memory: NewMemory;
  version: number;
  createdAt: number;
  updatedAt: number;
  /**
   * Whether its id may come from elsewhere, so that only memory_locations can tell if it is free.
   */
  isImported: boolean;
};

export function newRow(projectId: number, memory: NewMemory, at: number): InsertedMemory {
  return { projectId, memory, version: 1, createdAt: at, updatedAt: at, isImported: false };
}

const columns = `project_id, bucket, id, id_bucket, user_id, type, metadata, source, external_id,
  origin, version, occurred_at, expires_at, created_at, updated_at, content`;
const types = [
  ...['int8', 'int2', 'text', 'int2', 'text', 'text', 'text', 'text', 'text', 'text'],
  ...['int8', 'int8', 'int8', 'int8', 'int8', 'text'],
];

const insertMemories = overRows(
  [...types, 'int8'],
  (values) => `INSERT INTO memories (${columns}, last_change) ${values}`,
);

const insertUncounted = overRows(
  types,
  // The outer join turns a missing user into an error instead of silently skipping the memory.
  (values) => `INSERT INTO memories (${columns}, last_change)
    SELECT v.*, u.last_change FROM (${values}) AS v (${columns}) LEFT JOIN users AS u
      ON u.project_id = v.project_id AND u.bucket = v.bucket AND u.user_id = v.user_id`,
);

const insertLocations = overRows(
  ['int8', 'int2', 'text', 'int2'],
  (values) => `INSERT INTO memory_locations (project_id, bucket, id, location) ${values}`,
);

/**
 * The statements that insert memories; those of their users come first. Where the numbers of the
 * users' changes are not known yet, the memories get them in the database, in the same round trip.
 */
export function memoryInserts(
  rows: readonly InsertedMemory[],
  changeOf: ChangeNumber | null,
): Statement[] {
  const locations = rows.filter(hasLocation).map(({ projectId, memory }): Value[] => {
    return [projectId, bucketOfId(memory.id), memory.id, bucketOf(memory.userId)];
  });
  const values = rows.map((row) => {
    const { projectId, memory } = row;
    const change = changeOf === null ? [] : [changeOf({ projectId, userId: memory.userId })];
    return [...memoryValues(row), ...change];
  });
  const insert = changeOf === null ? insertUncounted : insertMemories;
  return [...insertLocations(locations.sort(byKey)), ...insert(values)];
}

function hasLocation({ memory, isImported }: InsertedMemory): boolean {
  return isImported || bucketOfId(memory.id) !== bucketOf(memory.userId);
}

function memoryValues(row: InsertedMemory): Value[] {
  const { projectId, memory, version, createdAt, updatedAt } = row;
  const { id, userId, type, metadata, source, externalId, occurredAt, expiresAt } = memory;
  const place = [projectId, bucketOf(userId), id, hasLocation(row) ? bucketOfId(id) : null];
  const named = [userId, type, metadata, source, externalId, originOf(memory)];
  return [...place, ...named, version, occurredAt, expiresAt, createdAt, updatedAt, memory.content];
}

/** Source and external id as one text; null if there is no external id. */
export function originOf({ source, externalId }: Pick<NewMemory, 'source' | 'externalId'>) {
  if (externalId === null) return null;
  const name = JSON.stringify([source ?? '', externalId]);
  return new Bun.CryptoHasher('sha256').update(name).digest('base64');
}

/**
 * The order in which rows are locked: the same in every transaction, which rules out deadlocks.
 */
export function byKey(a: readonly Value[], b: readonly Value[]): number {
  for (const [index, value] of a.entries()) {
    const other = b[index] ?? null;
    if (value === other) continue;
    return value === null || (other !== null && value < other) ? -1 : 1;
  }
  return 0;
}

/** The memory as a read would return it right after its insert as complete. */
export function asStored(memory: NewMemory, at: number): StoredMemory {
  return { ...memory, status: 'complete', version: 1, createdAt: at, updatedAt: at };
}
