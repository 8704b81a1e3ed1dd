import { bucketOf, bucketOfId } from '../../bucket.ts';
import { faultPoint } from '../../fault-points.ts';
import type { ContentRange, NewMemory, StoredMemory } from '../storage.ts';
import {
  overPlaces,
  overRows,
  type Row,
  type Run,
  type Statement,
  statement,
  type Value,
} from './statement.ts';

/*
 * Maps a memory to its row and its task's row. Integers are read as float8, which is exact up to
 * 2^53, because the client returns int8 as text.
 */

/** The status of the indexing task, or `complete` if the memory has no task. */
export const memoryStatus = `CASE coalesce(t.state, 'complete')
  WHEN 'waiting' THEN 'processing' WHEN 'running' THEN 'processing'
  WHEN 'failed' THEN 'failed' ELSE 'complete' END`;

export const statusColumn = `${memoryStatus} AS status`;

export const memoryColumns = `m.content, m.id, m.user_id AS "userId", m.type, m.metadata, m.source,
  m.external_id AS "externalId", m.occurred_at::float8 AS "occurredAt",
  m.expires_at::float8 AS "expiresAt", m.version::float8 AS version,
  m.created_at::float8 AS "createdAt",
  greatest(m.updated_at, t.updated_at)::float8 AS "updatedAt", ${statusColumn}`;

/** Like `memoryColumns`, with a part of the content. The parameters hold `partValues`. */
export function partColumns(begin: string, length: string): string {
  const part = `substr(m.content, ${begin}::int4, ${length}::int4) AS content`;
  return memoryColumns.replace('m.content', part);
}

export function partValues({ offset, length }: ContentRange): [begin: number, length: number] {
  return [offset + 1, length];
}

export const withTask = `LEFT JOIN tasks AS t ON t.project_id = m.project_id
  AND t.bucket = m.bucket AND t.memory_id = m.id AND t.kind = 'index'`;

/** Excludes expired memories whose rows have not been deleted yet. */
export const notExpired = (now: string) => `(m.expires_at IS NULL OR m.expires_at > ${now})`;

/** The time of the event that the memory describes or, if unknown, the memory's creation time. */
export const memoryTime = 'coalesce(m.occurred_at, m.created_at)';

export type MemoryRow = StoredMemory & { bucket: number };

export function memoryIn(
  projectId: number,
  bucket: number,
  id: string,
  range?: ContentRange,
): Statement {
  const part = `${partColumns('$4', '$5')}, length(m.content)::float8 AS "contentLength"`;
  return statement(
    `SELECT m.bucket, ${range === undefined ? memoryColumns : part} FROM memories AS m ${withTask}
     WHERE m.project_id = $1::int8 AND m.bucket = $2::int2 AND m.id = $3`,
    projectId,
    bucket,
    id,
    ...(range === undefined ? [] : partValues(range)),
  );
}

/** Selects a memory's bucket if memory_locations has a row for its id. */
export function locationOf(projectId: number, id: string): Statement {
  return statement(
    `SELECT location FROM memory_locations
     WHERE project_id = $1::int8 AND bucket = $2::int2 AND id = $3`,
    projectId,
    bucketOfId(id),
    id,
  );
}

/**
 * Whether a memory can have this id. PostgreSQL rejects some strings, such as those that contain
 * NUL.
 */
export function isId(text: string): boolean {
  return /^mem_[\w-]{1,64}$/.test(text);
}

/**
 * Returns the memory, even if it has expired. Needs one round trip for an id that this service
 * created.
 */
export async function findMemory(
  run: Run,
  projectId: number,
  id: string,
  range?: ContentRange,
): Promise<MemoryRow | null> {
  if (!isId(id)) return null;
  const bucket = bucketOfId(id);
  const [[here], [elsewhere]] = (await run([
    memoryIn(projectId, bucket, id, range),
    locationOf(projectId, id),
  ])) as [MemoryRow[], { location: number }[]];
  if (here !== undefined || elsewhere === undefined) return here ?? null;
  const [[there]] = (await run([memoryIn(projectId, elsewhere.location, id, range)])) as [
    MemoryRow[],
  ];
  return there ?? null;
}

const findLocations = overPlaces(
  ['int8', 'int2', 'text'],
  (values, inBucket) => `SELECT id, bucket, location FROM memory_locations
    WHERE (project_id, bucket, id) IN (${values})${inBucket('bucket')}`,
);

/**
 * Returns the rows that `find` selects, each only once, even if an id is repeated. Needs one round
 * trip for ids that this service created.
 */
export async function findByIds(
  run: Run,
  projectId: number,
  ids: readonly string[],
  find: (places: Value[][]) => Statement[],
): Promise<Row[]> {
  const places = [...new Set(ids)]
    .map((id): Value[] => [projectId, bucketOfId(id), id])
    .sort(byKey);
  const here = find(places);
  const rows = await run([...here, ...findLocations(places)]);
  const located = rows.slice(here.length).flat() as {
    id: string;
    bucket: number;
    location: number;
  }[];
  const elsewhere = located.filter(({ bucket, location }) => bucket !== location);
  const found = rows.slice(0, here.length).flat();
  if (elsewhere.length === 0) return found; // mutate-ignore removal: finds no rows either
  const there = elsewhere.map(({ id, location }): Value[] => [projectId, location, id]);
  return [...found, ...(await run(find(there.sort(byKey)))).flat()];
}

/** A memory to insert. The insert has already been counted as a change in the user's row. */
export type InsertedMemory = {
  projectId: number;
  memory: NewMemory;
  version: number;
  createdAt: number;
  updatedAt: number;
  /** Whether the id may come from another database. If so, it may already exist in any bucket. */
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

export const insertLocations = overRows(
  ['int8', 'int2', 'text', 'int2'],
  (values) => `INSERT INTO memory_locations (project_id, bucket, id, location) ${values}`,
);

/**
 * Returns the statements that insert memories. The users' rows must be updated first. If `changeOf`
 * is null, the database fills in the change numbers of the users, to save a round trip.
 */
export function memoryInserts(
  rows: readonly InsertedMemory[],
  changeOf: ((user: { projectId: number; userId: string }) => number) | null,
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

/** Returns a hash of source and external id, or null if there is no external id. */
export function originOf({ source, externalId }: Pick<NewMemory, 'source' | 'externalId'>) {
  if (externalId === null) return null;
  const name = JSON.stringify([source ?? '', externalId]);
  return new Bun.CryptoHasher('sha256').update(name).digest('base64');
}

/** Compares rows by key. To prevent deadlocks, every transaction locks rows in this order. */
export const byKey = faultPoint('lock-order', compareKeys);

function compareKeys(a: readonly Value[], b: readonly Value[]): number {
  for (const [index, value] of a.entries()) {
    const other = b[index] ?? null;
    if (value === other) continue;
    return value === null || (other !== null && value < other) ? -1 : 1;
  }
  return 0;
}
