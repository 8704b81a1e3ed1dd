import type { Storage, StoredKey } from '../storage.ts';
import type { Connections } from './settings.ts';
import type { Writer } from './writer.ts';

type KeyOperations = Pick<
  Storage,
  'createKey' | 'listKeys' | 'findKey' | 'revokeKey' | 'touchKeys' | 'ensureProject'
>;

const columns = `k.id, p.name AS project, k.project_id AS projectId, k.name, k.prefix,
  k.last_four AS lastFour, k.created_at AS createdAt, k.expires_at AS expiresAt,
  k.last_used_at AS lastUsedAt, k.revoked_at AS revokedAt`;

const joined = 'api_keys AS k JOIN projects AS p ON p.id = k.project_id';

export function createKeys({ reads, writes }: Connections, { write }: Writer): KeyOperations {
  const project = writes.prepare<{ id: number }, [string]>(
    // The update changes nothing; it makes RETURNING answer for a project that is there.
    `INSERT INTO projects (name) VALUES (?)
     ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING id`,
  );
  const known = reads.prepare<{ id: number }, [string]>('SELECT id FROM projects WHERE name = ?');
  const insert = writes.prepare(
    `INSERT INTO api_keys
       (id, project_id, name, hash, prefix, last_four, created_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const list = reads.prepare<StoredKey, []>(
    `SELECT ${columns} FROM ${joined} ORDER BY k.created_at, k.id`,
  );
  // Not by way of the reads, which stay behind while a commit is on its way to the disk: a key
  // works, and ends, at once.
  const find = writes.prepare<StoredKey, [string]>(
    `SELECT ${columns} FROM ${joined} WHERE k.hash = ?`,
  );
  const revoke = writes.prepare(
    'UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL',
  );
  const touch = writes.prepare('UPDATE api_keys SET last_used_at = ? WHERE id = ?');

  function projectId(name: string): number {
    const row = project.get(name);
    if (row === null) throw new Error('a project was neither found nor made');
    return row.id;
  }

  return {
    createKey: (key) =>
      write(() => {
        const { hash, ...shown } = key;
        const { id, name, prefix, lastFour, createdAt, expiresAt } = key;
        const project = projectId(key.project);
        insert.run(id, project, name, hash, prefix, lastFour, createdAt, expiresAt);
        return { ...shown, projectId: project, lastUsedAt: null, revokedAt: null };
      }),
    listKeys: async () => list.all(),
    findKey: async (hash) => find.get(hash),
    revokeKey: (id, at) => write(() => revoke.run(at, id).changes > 0),
    touchKeys: (used) =>
      write(() => {
        for (const { id, at } of used) touch.run(at, id);
      }),
    async ensureProject(name) {
      // Read first: a server must come up for reading on a disk without room.
      return known.get(name)?.id ?? (await write(() => projectId(name)));
    },
  };
}
