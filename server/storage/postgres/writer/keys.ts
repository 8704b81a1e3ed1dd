import type { NewKey, StoredKey } from '../../key-storage.ts';
import { outcomeUnknown } from '../../refusals.ts';
import type { Storage } from '../../storage.ts';
import type { Connection } from '../connection.ts';
import { isPartLost, isRefusal, written } from '../errors.ts';
import { byKey } from '../row.ts';
import { overRows, query, type Row, statement, type Value } from '../statement.ts';

type KeyWrites = Pick<Storage, 'createKey' | 'revokeKey' | 'touchKeys' | 'ensureProject'>;

const maxProjectId = 2 ** 48;

const touch = overRows(
  ['text', 'int8'],
  (values) => `UPDATE api_keys AS k SET last_used_at = greatest(k.last_used_at, v.at)
    FROM (${values}) AS v (id, at) WHERE k.id = v.id`,
);

/** Runs a single-statement write, which may be stored even if the connection is lost. */
async function runOnce(connection: Connection, text: string, ...values: Value[]): Promise<Row[]> {
  const session = await connection.session();
  try {
    return await query(session.run, text, ...values);
  } catch (error) {
    if (isRefusal(error) && !isPartLost(error)) throw error;
    throw outcomeUnknown(error, 'check the list of keys');
  }
}

export function createKeyWrites(connection: Connection): KeyWrites {
  async function ensureProject(name: string): Promise<number> {
    const number = Math.ceil(Math.random() * maxProjectId);
    const [, [row]] = (await connection.run([
      statement(
        'INSERT INTO projects (project_id, name) VALUES ($1::int8, $2) ON CONFLICT DO NOTHING',
        number,
        name,
      ),
      statement('SELECT project_id::float8 AS id FROM projects WHERE name = $1', name),
    ])) as [unknown[], { id: number }[]];
    if (row === undefined) throw new Error('the project was neither found nor created');
    return row.id;
  }

  async function createKey({ hash, ...key }: NewKey): Promise<StoredKey> {
    const { id, name, prefix, lastFour, createdAt, expiresAt } = key;
    const { userId, readOnly, metricsOnly } = key;
    const projectId = await ensureProject(key.project);
    await runOnce(
      connection,
      `INSERT INTO api_keys (id, project_id, name, hash, prefix, last_four, user_id, read_only,
         metrics_only, created_at, expires_at)
       VALUES ($1, $2::int8, $3, $4, $5, $6, $7, $8::bool, $9::bool, $10::int8, $11::int8)`,
      ...[id, projectId, name, hash, prefix, lastFour],
      ...[userId, readOnly, metricsOnly, createdAt, expiresAt],
    );
    return { ...key, projectId, lastUsedAt: null, revokedAt: null };
  }

  async function revokeKey(id: string, at: number): Promise<boolean> {
    const revoked = await runOnce(
      connection,
      `UPDATE api_keys SET revoked_at = $2::int8 WHERE id = $1 AND revoked_at IS NULL
       RETURNING 1 AS one`,
      id,
      at,
    );
    return revoked.length > 0;
  }

  return {
    ensureProject: (name) => written(ensureProject(name)),
    createKey: (key) => written(createKey(key)),
    revokeKey: (id, at) => written(revokeKey(id, at)),
    async touchKeys(used) {
      const rows = used.map(({ id, at }) => [id, at]).sort(byKey);
      await written(connection.run(touch(rows)));
    },
  };
}
