import type { Database } from 'bun:sqlite';
import { eraseUser } from '../../operations/erasure.ts';
import { createKey, revokeKey } from '../../operations/keys.ts';
import type { Restored, RevokedKey } from '../../types/admin.ts';
import { createAlone } from '../transaction.ts';
import { type KnownKey, maxVersions, type Replaced, readReplaced } from './replaced.ts';

/* What a restore must not undo. The copy of the backup is changed before it is put in place. */

export type CarriedOver = Pick<
  Restored,
  'revokedKeys' | 'broughtBackUsers' | 'erasedAgain' | 'unchecked'
>;

/**
 * Added to the highest known version, because memories deleted since the backup, or all memories of
 * a replaced database that cannot be read, may have had higher versions.
 */
const versionMargin = 1_000_000; // mutate-ignore constant: far above any number of versions

export async function carryOver(
  copy: Database,
  path: string,
  { now, eraseAgain }: { now: number; eraseAgain: boolean },
): Promise<CarriedOver> {
  const { keys, users, maxVersions: known, fault } = readReplaced(path, copy, now);
  if (eraseAgain && fault !== null) {
    throw new Error(
      `${fault}, so users erased since the backup are not known; nothing was changed`,
    );
  }
  const revokedKeys = await revokeAgain(copy, keys);
  if (eraseAgain) await eraseUsers(copy, users, now);
  raiseVersions(copy, known);
  return {
    revokedKeys,
    broughtBackUsers: users.map(({ project, userId, memories }) => ({ project, userId, memories })),
    erasedAgain: eraseAgain,
    unchecked: fault,
  };
}

/**
 * Returns the keys that the copy accepted. A revoked key that the copy lacks is added, because a
 * newer backup, which contains the key, may be restored next.
 */
async function revokeAgain(copy: Database, keys: readonly KnownKey[]): Promise<RevokedKey[]> {
  const writeAlone = createAlone(copy);
  const isKnown = copy.prepare<unknown, [string]>('SELECT 1 FROM api_keys WHERE id = ?');
  const revoked: RevokedKey[] = [];
  for (const { revokedAt, ...key } of keys) {
    const wasKnown = isKnown.get(key.id) !== null;
    if (!wasKnown) await writeAlone(createKey, key);
    const wasValid = await writeAlone(revokeKey, { id: key.id, at: revokedAt });
    const { id, project, name, lastFour } = key;
    if (wasKnown && wasValid) revoked.push({ id, project, name, lastFour });
  }
  return revoked;
}

async function eraseUsers(copy: Database, users: Replaced['users'], at: number): Promise<void> {
  const noteErased = copy.prepare(
    `INSERT INTO maintenance (name, value) VALUES ('scrub', 1)
     ON CONFLICT DO UPDATE SET value = value + 1`,
  );
  // The next server to start removes the traces of the text from the file.
  const writeAlone = createAlone(copy, (what) => {
    if (what === 'user') noteErased.run();
  });
  for (const { projectId, userId } of users) {
    await writeAlone(eraseUser, { projectId, userId, at, idempotency: null, onlyUserId: null });
  }
}

/**
 * Gives all memories a version that was never given out in their project, so that no earlier ETag
 * matches them. The versions of other projects do not count: an import can make them very high.
 */
function raiseVersions(copy: Database, known: ReadonlyMap<string, number>): void {
  const raise = copy.prepare(
    `UPDATE memories SET version = ?
     WHERE project_id = (SELECT project_id FROM projects WHERE name = ?)`,
  );
  for (const [project, version] of maxVersions(copy)) {
    raise.run(Math.max(known.get(project) ?? 0, version) + versionMargin, project);
  }
}
