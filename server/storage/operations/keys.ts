import type { ShortRead, Tx, WriteOperation } from '../engine.ts';
import { WriteConflict } from '../refusals.ts';
import type { NewKey, StoredKey } from '../types/keys.ts';
import { later } from './columns.ts';

type Flag = 'readOnly' | 'metricsOnly';
type KeyRow = Omit<StoredKey, Flag> & Record<Flag, number>;

const keyColumns = `k.id, p.name AS project, k.project_id AS "projectId", k.name, k.prefix,
  k.last_four AS "lastFour", k.user_id AS "userId", k.read_only AS "readOnly",
  k.metrics_only AS "metricsOnly",
  k.created_at AS "createdAt", k.expires_at AS "expiresAt", k.last_used_at AS "lastUsedAt",
  k.revoked_at AS "revokedAt"`;

const keysWithProjects = 'api_keys AS k JOIN projects AS p ON p.project_id = k.project_id';

/** Stores an API key by its hash. Creates the project if it does not exist. */
export const createKey: WriteOperation<NewKey, StoredKey> = {
  async run(tx, key) {
    const { hash, ...shown } = key;
    const { id, name, prefix, lastFour, userId, createdAt, expiresAt } = key;
    const projectId = await ensure(tx, key.project);
    const flags = [Number(key.readOnly), Number(key.metricsOnly)];
    await tx.run(
      `INSERT INTO api_keys (id, project_id, name, hash, prefix, last_four, user_id, read_only,
         metrics_only, created_at, expires_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
      [id, projectId, name, hash, prefix, lastFour, userId, ...flags, createdAt, expiresAt],
    );
    return { ...shown, projectId, lastUsedAt: null, revokedAt: null };
  },
};

/** Returns false if the key does not exist or was already revoked. */
export const revokeKey: WriteOperation<{ id: string; at: number }, boolean> = {
  async run(tx, { id, at }) {
    const revoked = await tx.run(
      'UPDATE api_keys SET revoked_at = $1 WHERE id = $2 AND revoked_at IS NULL',
      [at, id],
    );
    return revoked > 0;
  },
};

/** Records when keys were last used. */
export const touchKeys: WriteOperation<{ id: string; at: number }[], void> = {
  cost: (used) => used.length,
  async run(tx, used) {
    const touch = `UPDATE api_keys SET last_used_at = ${later('last_used_at', '$1')} WHERE id = $2`;
    await Promise.all(used.map(({ id, at }) => tx.run(touch, [at, id])));
  },
};

/** Returns the project's id. Creates the project if it does not exist. */
export const ensureProject: WriteOperation<string, number> = {
  run: ensure,
};

async function ensure(tx: Tx, name: string): Promise<number> {
  const known = await findProject.run(tx, name);
  if (known !== null) return known;
  await tx.run(
    `INSERT INTO projects (project_id, name)
     SELECT coalesce(max(project_id), 0) + 1, CAST($1 AS text) FROM projects
     WHERE true ON CONFLICT DO NOTHING`,
    [name],
  );
  const made = await findProject.run(tx, name);
  // Another server has created another project with the same number.
  if (made === null) throw new WriteConflict();
  return made;
}

export const findProject: ShortRead<string, number | null> = {
  async run(tx, name) {
    const row = await tx.one<{ id: number }>(
      'SELECT project_id AS id FROM projects WHERE name = $1',
      [name],
    );
    return row?.id ?? null;
  },
};

/** Returns the key with this hash, or null. The key may be revoked or expired. */
export const findKey: ShortRead<string, StoredKey | null> = {
  async run(tx, hash) {
    const row = await tx.one<KeyRow>(
      `SELECT ${keyColumns} FROM ${keysWithProjects} WHERE k.hash = $1`,
      [hash],
    );
    return row === undefined ? null : asKey(row);
  },
};

/** Returns all keys, oldest first, including revoked and expired keys. */
export const listKeys: ShortRead<void, StoredKey[]> = {
  async run(tx) {
    const rows = await tx.all<KeyRow>(
      `SELECT ${keyColumns} FROM ${keysWithProjects} ORDER BY k.created_at, k.id`,
    );
    return rows.map(asKey);
  },
};

function asKey({ readOnly, metricsOnly, ...key }: KeyRow): StoredKey {
  return { ...key, readOnly: readOnly === 1, metricsOnly: metricsOnly === 1 };
}
