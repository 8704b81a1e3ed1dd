import type { Database } from 'bun:sqlite';
import type { NewKey, StoredKey } from '../../key-storage.ts';

export type KeyWrites = {
  createKey(key: NewKey): StoredKey;
  revokeKey(revoked: { id: string; at: number }): boolean;
  touchKeys(used: { id: string; at: number }[]): void;
  ensureProject(name: string): number;
};

export function createKeyWrites(db: Database): KeyWrites {
  const project = db.prepare<{ id: number }, [string]>(
    // The update changes nothing, but without it, RETURNING would return no row for an existing
    // project.
    `INSERT INTO projects (name) VALUES (?)
     ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING project_id AS id`,
  );
  const insert = db.prepare(
    `INSERT INTO api_keys (id, project_id, name, hash, prefix, last_four, user_id, read_only,
       metrics_only, created_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const revoke = db.prepare(
    'UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL',
  );
  const touch = db.prepare('UPDATE api_keys SET last_used_at = ? WHERE id = ?');

  function ensureProject(name: string): number {
    const row = project.get(name);
    if (row === null) throw new Error('the project was neither found nor created');
    return row.id;
  }

  return {
    createKey(key) {
      const { hash, ...shown } = key;
      const { id, name, prefix, lastFour, userId, createdAt, expiresAt } = key;
      const projectId = ensureProject(key.project);
      const named = [id, projectId, name, hash, prefix, lastFour];
      const rights = [userId, Number(key.readOnly), Number(key.metricsOnly)];
      insert.run(...named, ...rights, createdAt, expiresAt);
      return { ...shown, projectId, lastUsedAt: null, revokedAt: null };
    },
    revokeKey: ({ id, at }) => revoke.run(at, id).changes > 0,
    touchKeys(used) {
      for (const { id, at } of used) touch.run(at, id);
    },
    ensureProject,
  };
}
