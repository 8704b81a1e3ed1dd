import { bucketOf } from '../../bucket.ts';
import { firstMemories, turns } from '../embedding-work.ts';
import type {
  MemoryToEmbed,
  Model,
  NewVectors,
  PresentModel,
  UserToEmbed,
  VectorQueue,
} from '../vector-storage.ts';
import type { Connection } from './connection.ts';
import { answered, written } from './errors.ts';
import { query, type Statement, statement, textArray } from './statement.ts';
import type { Work } from './transaction.ts';

type Stored = Parameters<VectorQueue['storeVectors']>[0];
type Wanted = Parameters<VectorQueue['memoriesToEmbed']>[0];
type Known = PresentModel & { isPresent: boolean };
type Change = { embeddedChange: number; lastChange: number };
type Sized = Pick<MemoryToEmbed, 'id' | 'change' | 'textHash'> & { size: number };

const ofUser = 'project_id = $1::int8 AND bucket = $2::int2 AND user_id = $3';

/** `transact` runs work in its own transaction; `connection` is for single statements. */
export function createVectors(
  connection: Connection,
  transact: <T>(work: Work<T>) => Promise<T>,
): VectorQueue {
  return {
    async presentModel() {
      const [row] = await answered(query<PresentModel>(connection.run, presentModel));
      return row ?? null;
    },
    ensureModel: (model) => written(transact(ensure(model))),
    async usersToEmbed({ limit }) {
      const users = await answered(query<UserToEmbed>(connection.run, usersWithWork, limit));
      const projects = Map.groupBy(users, ({ projectId }) => projectId);
      return turns([...projects.values()], limit);
    },
    memoriesToEmbed: (wanted) => answered(readWork(connection, wanted)),
    storeVectors: (stored) => written(transact(store(stored))),
    async embeddingBacklog() {
      const [row] = await answered(query<{ memories: number }>(connection.run, backlog));
      return row?.memories ?? 0;
    },
  };
}

const modelColumns = `model_id::float8 AS "modelId", name, digest, dims, mean, deviation, probe`;
const presentModel = `SELECT ${modelColumns} FROM models WHERE is_present`;

/** Up to the limit from each project. */
const usersWithWork = `SELECT u.project_id::float8 AS "projectId", u.user_id AS "userId"
  FROM projects AS p CROSS JOIN LATERAL (
    SELECT project_id, user_id FROM users
    WHERE project_id = p.project_id AND embedded_change < last_change LIMIT $1::int4) AS u`;

// Users with new memories only have few of them; for a new model, all memories count.
const backlog = `SELECT coalesce(sum(CASE WHEN embedded_change < 0 THEN memories
    ELSE least(memories, last_change - embedded_change) END), 0)::float8 AS memories
  FROM users WHERE embedded_change < last_change`;

function ensure({ name, digest, dims, mean, deviation, probe }: Model): Work<PresentModel> {
  return async (run) => {
    // Several servers may register the model at the same time.
    const [, , rows = []] = await run([
      statement('LOCK TABLE models IN SHARE ROW EXCLUSIVE MODE'),
      statement(
        `INSERT INTO models (name, digest, dims, mean, deviation, probe, is_present)
         VALUES ($1, $2, $3::int4, $4::float8, $5::float8, $6, false) ON CONFLICT DO NOTHING`,
        ...[name, digest, dims, mean, deviation, probe],
      ),
      statement(
        `SELECT ${modelColumns}, is_present AS "isPresent"
         FROM models WHERE name = $1 AND digest = $2`,
        ...[name, digest],
      ),
    ]);
    const [found] = rows as Known[];
    if (found === undefined) throw new Error('the model was not stored');
    const { isPresent, ...result } = found;
    return { last: isPresent ? [] : choose(result.modelId), result };
  };
}

function choose(modelId: number): Statement[] {
  return [
    statement('UPDATE models SET is_present = model_id = $1::int8', modelId),
    statement('UPDATE users SET embedded_change = -1'),
  ];
}

/**
 * A memory that is written between two of these statements gets a later change, so that no vectors
 * of its former text are stored.
 */
async function readWork(connection: Connection, wanted: Wanted) {
  const { projectId, userId, modelId, limit } = wanted;
  const user = [projectId, bucketOf(userId), userId];
  const [[found] = []] = (await connection.run([
    statement(
      `SELECT embedded_change::float8 AS "embeddedChange", last_change::float8 AS "lastChange"
       FROM users WHERE ${ofUser}`,
      ...user,
    ),
  ])) as Change[][];
  const { embeddedChange: from, lastChange } = found ?? { embeddedChange: -1, lastChange: -1 };
  const rows = await query<Sized>(
    connection.run,
    `SELECT m.id, m.last_change::float8 AS change, octet_length(m.content) AS size,
       CASE WHEN v.model_id = $6::int8 THEN v.text_hash END AS "textHash"
     FROM memories AS m LEFT JOIN vectors AS v ON v.project_id = m.project_id
       AND v.bucket = m.bucket AND v.memory_id = m.id
     WHERE m.project_id = $1::int8 AND m.bucket = $2::int2 AND m.user_id = $3
       AND m.last_change > $4::int8 AND m.last_change <= $5::int8
       AND (v.model_id = $6::int8 AND v.change = m.last_change) IS NOT TRUE
     ORDER BY m.last_change LIMIT $7::int4`,
    ...user,
    ...[from, lastChange, modelId, limit + 1],
  );
  const work = firstMemories(rows, { from, lastChange, limit, sizeOf: ({ size }) => size });
  const texts = await query<Pick<MemoryToEmbed, 'id' | 'content' | 'metadata'>>(
    connection.run,
    `SELECT id, content, metadata FROM memories
     WHERE project_id = $1::int8 AND bucket = $2::int2 AND id = ANY ($3::text[])`,
    ...user.slice(0, 2),
    textArray(work.memories.map(({ id }) => id)),
  );
  const byId = new Map(texts.map((text) => [text.id, text]));
  const memories = work.memories.flatMap(({ id, change, textHash }) => {
    const text = byId.get(id);
    return text === undefined ? [] : [{ ...text, change, textHash }];
  });
  return { ...work, memories };
}

/**
 * The first statement locks the user's row, as every write to the user's memories does, so that no
 * vectors are stored for a memory that is being deleted.
 */
function store(stored: Stored): Work<boolean> {
  const { projectId, userId, modelId, from, upTo, vectors } = stored;
  const user = [projectId, bucketOf(userId), userId];
  return async (run) => {
    const [advanced = []] = await run([
      statement(
        `UPDATE users SET embedded_change = $4::int8
         WHERE ${ofUser} AND embedded_change = $5::int8 AND last_change >= $4::int8
         RETURNING 1 AS one`,
        ...[...user, upTo, from],
      ),
    ]);
    if (advanced.length === 0) return { last: [], result: false };
    return { last: vectors.map((one) => storeOne(user, modelId, one)), result: true };
  };
}

function storeOne(
  user: (string | number)[],
  modelId: number,
  { id, change, textHash, data }: NewVectors,
): Statement {
  const values = [...user, id, change, modelId, textHash];
  if (data === null) {
    return statement(
      `UPDATE vectors SET change = $5::int8
       WHERE project_id = $1::int8 AND bucket = $2::int2 AND memory_id = $4
         AND model_id = $6::int8 AND text_hash = $7 AND EXISTS (
           SELECT 1 FROM memories WHERE ${ofUser} AND id = $4 AND last_change = $5::int8)`,
      ...values,
    );
  }
  return statement(
    `INSERT INTO vectors (project_id, bucket, memory_id, model_id, change, text_hash, data)
     SELECT project_id, bucket, id, $6::int8, last_change, $7, decode($8, 'base64')
     FROM memories WHERE ${ofUser} AND id = $4 AND last_change = $5::int8
     ON CONFLICT (project_id, bucket, memory_id) DO UPDATE SET model_id = excluded.model_id,
       change = excluded.change, text_hash = excluded.text_hash, data = excluded.data`,
    ...[...values, data],
  );
}
