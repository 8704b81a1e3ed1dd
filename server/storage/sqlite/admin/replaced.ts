import { Database } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import type { BroughtBackUser } from '../../types/admin.ts';
import type { NewKey } from '../../types/keys.ts';
import { openFault } from '../access.ts';
import { structuralFaults } from '../check.ts';
import { assertOurs } from '../migrate.ts';

/* Reads the database that a restore replaces, as far as it can be read. */

export type KnownKey = NewKey & { revokedAt: number };

export type Replaced = {
  /** The revoked keys. */
  keys: KnownKey[];
  /** The highest version of a memory in each project, by the project's name. */
  maxVersions: ReadonlyMap<string, number>;
  /** The users of whose memories in the backup none is left. Their project ids are the backup's. */
  users: (BroughtBackUser & { projectId: number })[];
  /** Why some of this could not be read, or null. */
  fault: string | null;
};

export function readReplaced(path: string, backup: Database, now: number): Replaced {
  const known: Replaced = { keys: [], maxVersions: new Map(), users: [], fault: null };
  if (!existsSync(path)) return { ...known, fault: `there is no database at ${path}` };
  try {
    using db = new Database(path, { readonly: true, strict: true });
    if (assertOurs(db, path).schema === 0) return { ...known, fault: `${path} is empty` };
    // Revocations are used even if the file is damaged. A user would be erased by mistake if only
    // the damage hid the memories.
    known.keys = revokedKeys(db);
    known.maxVersions = maxVersions(db);
    const [damage] = structuralFaults(db);
    if (damage !== undefined) return { ...known, fault: `${path} is damaged: ${damage}` };
    known.users = usersWithoutMemories(db, backup, now);
    return known;
  } catch (error) {
    const reason = openFault(path, error);
    return {
      ...known,
      fault: reason.includes(path) ? reason : `${path} cannot be read: ${reason}`,
    };
  }
}

function revokedKeys(db: Database): KnownKey[] {
  const rows = db
    .prepare<Omit<KnownKey, 'readOnly' | 'metricsOnly'> & { readOnly: number }, []>(
      `SELECT k.id, p.name AS project, k.name, k.hash, k.prefix, k.last_four AS lastFour,
         k.user_id AS userId, k.read_only AS readOnly, k.created_at AS createdAt,
         k.expires_at AS expiresAt, k.revoked_at AS revokedAt
       FROM api_keys AS k JOIN projects AS p ON p.project_id = k.project_id
       WHERE k.revoked_at IS NOT NULL ORDER BY k.revoked_at, k.id`,
    )
    .all();
  // An older database does not know the keys for metrics, and a revoked key has no rights.
  return rows.map((row) => ({ ...row, readOnly: row.readOnly === 1, metricsOnly: false }));
}

/** The plus keeps SQLite from reading the memories in the order of an index. */
export function maxVersions(db: Database): ReadonlyMap<string, number> {
  const rows = db
    .prepare<{ project: string; version: number }, []>(
      `SELECT p.name AS project, max(m.version) AS version
       FROM memories AS m JOIN projects AS p ON p.project_id = m.project_id
       GROUP BY +m.project_id`,
    )
    .all();
  return new Map(rows.map(({ project, version }) => [project, version]));
}

/**
 * A user's row is deleted along with the user's last memory, so it cannot tell whether the user was
 * erased. A user who returned after an erasure has a row, but none of the old memories.
 */
function usersWithoutMemories(db: Database, backup: Database, now: number): Replaced['users'] {
  const users = backup.prepare<Replaced['users'][number], []>(
    `SELECT u.project_id AS projectId, p.name AS project, u.user_id AS userId, u.memories
     FROM users AS u JOIN projects AS p ON p.project_id = u.project_id
     WHERE u.memories > 0 ORDER BY p.name, u.user_id`,
  );
  const notExpired = '(expires_at IS NULL OR expires_at > ?)';
  const memoriesOf = backup.prepare<{ id: string }, [number, string, number]>(
    `SELECT id FROM memories WHERE project_id = ? AND user_id = ? AND ${notExpired}`,
  );
  const find = db.prepare<unknown, [string, string, number]>(
    `SELECT 1 FROM memories
     WHERE project_id = (SELECT project_id FROM projects WHERE name = ?) AND id = ? AND ${notExpired}`,
  );
  return users.all().filter(({ projectId, project, userId }) => {
    let hadAny = false;
    for (const { id } of memoriesOf.iterate(projectId, userId, now)) {
      if (find.get(project, id, now) !== null) return false;
      hadAny = true;
    }
    return hadAny;
  });
}
