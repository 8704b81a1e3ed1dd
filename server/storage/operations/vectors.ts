import type { ShortRead, Tx, WriteOperation } from '../engine.ts';
import { WriteConflict } from '../refusals.ts';
import type { UserRef } from '../types/project.ts';
import type { MemoryToEmbed, Model, NewVectors, PresentModel, ToEmbed } from '../types/vectors.ts';
import { firstBytes, isAtChange } from './columns.ts';
import { keyOfUser } from './users.ts';
import { dropParts } from './vector-parts.ts';

/*
 * The vectors of memories, made in the background. A write stores no work for them:
 * `users.embedded_change` says up to which of the user's changes all memories have vectors of the
 * present model. Vectors are deleted with their memory, in the same transaction.
 */

type Wanted = UserRef & { modelId: number; limit: number };
type Stored = UserRef & { modelId: number; from: number; upTo: number; vectors: NewVectors[] };
type Known = PresentModel & { isPresent: number };
type Sized = Pick<MemoryToEmbed, 'id' | 'change' | 'textHash'> & { bytes: number };

/**
 * The amount of text, in bytes, that is embedded at once. The built-in model takes five seconds for
 * it; then the next user has a turn.
 */
const maxBytes = 64_000;

const modelColumns = 'model_id AS "modelId", name, digest, dims, mean, deviation, centre, probe';

/** Returns the present model: the one whose vectors are stored and searched. Null at first. */
export const presentModel: ShortRead<void, PresentModel | null> = {
  async run(tx) {
    const present = await tx.one<PresentModel>(
      `SELECT ${modelColumns} FROM models WHERE is_present = 1`,
    );
    return present ?? null;
  },
};

/**
 * Returns the model with this name and digest and makes it the present one. If it was not, no
 * memory has vectors of it: all users have work, and vectors of other models are not used.
 */
export const ensureModel: WriteOperation<Model, PresentModel> = {
  isLong: true,
  async run(tx, model) {
    const { name, digest, dims, mean, deviation, centre, probe } = model;
    await tx.run(
      `INSERT INTO models (model_id, name, digest, dims, mean, deviation, centre, probe, is_present)
       SELECT coalesce(max(model_id), 0) + 1, CAST($1 AS text), CAST($2 AS text),
         CAST($3 AS bigint), CAST($4 AS double precision), CAST($5 AS double precision),
         CAST($6 AS text), CAST($7 AS text), 0
       FROM models WHERE true ON CONFLICT DO NOTHING`,
      [name, digest, dims, mean, deviation, centre, probe],
    );
    const found = await tx.one<Known>(
      `SELECT ${modelColumns}, is_present AS "isPresent"
       FROM models WHERE name = $1 AND digest = $2`,
      [name, digest],
    );
    // Another server has stored another model with the same number.
    if (found === undefined) throw new WriteConflict();
    const { isPresent, ...present } = found;
    if (isPresent !== 1) {
      await tx.run(
        'UPDATE models SET is_present = CASE WHEN model_id = CAST($1 AS bigint) THEN 1 ELSE 0 END',
        [present.modelId],
      );
      await tx.run('UPDATE users SET embedded_change = -1');
    }
    return present;
  },
};

/**
 * Stores the vectors of the memories that are still at the given change, and records that the
 * user's changes are embedded up to `upTo`. Stores nothing and returns false if the model is not
 * the present one any more, or if the user's embedded change is not `from` any more: another server
 * has done the work.
 */
export const storeVectors: WriteOperation<Stored, boolean> = {
  isBackground: true,
  users: ({ projectId, userId }) => [keyOfUser(projectId, userId)],
  async run(tx, { projectId, userId, modelId, from, upTo, vectors }) {
    // If another model is becoming the present one, waits for it.
    const present = await tx.one(
      `SELECT 1 AS one FROM models WHERE model_id = CAST($1 AS bigint) AND is_present = 1
       ${tx.dialect.forShare}`,
      [modelId],
    );
    if (present === undefined) return false;
    const advanced = await tx.run(
      `UPDATE users SET embedded_change = CAST($3 AS bigint)
       WHERE project_id = $1 AND user_id = $2 AND embedded_change = CAST($4 AS bigint)
         AND last_change >= CAST($3 AS bigint)`,
      [projectId, userId, upTo, from],
    );
    if (advanced === 0) return false;
    // Only vectors of a former model can be there already.
    await dropParts(tx, [projectId, userId], from, upTo);
    await Promise.all(vectors.map((one) => storeOne(tx, { projectId, userId, modelId }, one)));
    return true;
  },
};

/** Stores nothing if the memory has changed since its text was read. */
async function storeOne(
  tx: Tx,
  { projectId, userId, modelId }: UserRef & { modelId: number },
  { id, change, textHash, data }: NewVectors,
): Promise<void> {
  const memory = [projectId, userId, id] as const;
  if (!(await isAtChange(tx, memory, change))) return;
  if (data === null) {
    await tx.run(
      `UPDATE vectors SET change = CAST($4 AS bigint)
       WHERE project_id = $1 AND user_id = $2 AND memory_id = $3
         AND model_id = CAST($5 AS bigint) AND text_hash = $6`,
      [...memory, change, modelId, textHash],
    );
    return;
  }
  await tx.run(
    `INSERT INTO vectors (project_id, user_id, memory_id, model_id, change, text_hash, data)
     VALUES ($1, $2, $3, $4, $5, $6, $7)
     ON CONFLICT (project_id, user_id, memory_id) DO UPDATE SET model_id = excluded.model_id,
       change = excluded.change, text_hash = excluded.text_hash, data = excluded.data`,
    [...memory, modelId, change, textHash, Buffer.from(data, 'base64')],
  );
}

/**
 * Returns users who have memories without vectors: all of them or, if more than `limit` have, about
 * as many of each project. To number the waiting users, so that projects take turns, would take
 * seconds for a million of them.
 */
export const usersToEmbed: ShortRead<{ limit: number }, UserRef[]> = {
  async run(tx, { limit }) {
    const first = await tx.all<UserRef>(
      `SELECT ${userColumns} FROM users WHERE embedded_change < last_change
       ORDER BY project_id, user_id LIMIT CAST($1 AS bigint)`,
      [limit],
    );
    if (first.length < limit) return first;
    const projects = await tx.all<Pick<UserRef, 'projectId'>>(
      `SELECT DISTINCT project_id AS "projectId" FROM users WHERE embedded_change < last_change
       ORDER BY project_id LIMIT CAST($1 AS bigint)`,
      [limit],
    );
    const ofProjects = projects.map(({ projectId }) =>
      tx.all<UserRef>(
        `SELECT ${userColumns} FROM users
         WHERE project_id = CAST($1 AS bigint) AND embedded_change < last_change
         ORDER BY user_id LIMIT CAST($2 AS bigint)`,
        [projectId, Math.ceil(limit / projects.length)],
      ),
    );
    return (await Promise.all(ofProjects)).flat();
  },
};

const userColumns = 'project_id AS "projectId", user_id AS "userId"';

/**
 * Returns the user's next memories without vectors in order of change: at most `limit`, and about
 * `maxBytes` of text, but at least one if there is any.
 */
export const memoriesToEmbed: ShortRead<Wanted, ToEmbed> = {
  async run(tx, { projectId, userId, modelId, limit }) {
    const user = [projectId, userId] as const;
    const found = await tx.one<{ from: number; last: number }>(
      `SELECT embedded_change AS "from", last_change AS last FROM users
       WHERE project_id = $1 AND user_id = $2`,
      user,
    );
    const { from, last } = found ?? { from: -1, last: -1 };
    // A memory that is written between two of these statements gets a later change, so that no
    // vectors of its former text are stored.
    const rows = await tx.all<Sized>(
      `SELECT m.id, m.last_change AS change, m.bytes,
         CASE WHEN v.model_id = CAST($5 AS bigint) THEN v.text_hash END AS "textHash"
       FROM memories AS m LEFT JOIN vectors AS v ON v.project_id = m.project_id
         AND v.user_id = m.user_id AND v.memory_id = m.id
       WHERE m.project_id = CAST($1 AS bigint) AND m.user_id = CAST($2 AS text)
         AND m.last_change > CAST($3 AS bigint) AND m.last_change <= CAST($4 AS bigint)
         AND (v.model_id = CAST($5 AS bigint) AND v.change = m.last_change) IS NOT TRUE
       ORDER BY m.last_change LIMIT CAST($6 AS bigint)`,
      [...user, from, last, modelId, limit + 1],
    );
    const chosen = firstBytes(rows.slice(0, limit), maxBytes);
    const next = rows[chosen.length];
    // mutate-ignore constant: an embedded memory is passed over
    const upTo = Math.max(from, next === undefined ? last : next.change - 1);
    const memories = await Promise.all(chosen.map((row) => readText(tx, user, row)));
    return { from, upTo, memories: memories.flat() };
  },
};

async function readText(
  tx: Tx,
  [projectId, userId]: readonly [number, string],
  { bytes: _, ...row }: Sized,
): Promise<MemoryToEmbed[]> {
  const text = await tx.one<Pick<MemoryToEmbed, 'content' | 'metadata'>>(
    `SELECT content, metadata FROM memories
     WHERE project_id = $1 AND user_id = $2 AND id = $3`,
    [projectId, userId, row.id],
  );
  return text === undefined ? [] : [{ ...row, ...text }];
}

/**
 * Returns an estimate of the number of memories without vectors. Users with new memories only have
 * few of them; for a new model, all memories count.
 */
export const embeddingBacklog: ShortRead<void, number> = {
  async run(tx) {
    const row = await tx.one<{ memories: number }>(
      `SELECT CAST(coalesce(sum(CASE
         WHEN embedded_change < 0 OR memories < last_change - embedded_change THEN memories
         ELSE last_change - embedded_change END), 0) AS bigint) AS memories
       FROM users WHERE embedded_change < last_change`,
    );
    // mutate-ignore constant: a sum always has a row
    return row?.memories ?? 0;
  },
};
