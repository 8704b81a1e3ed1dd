import type { Tx } from '../engine.ts';

/** How a write changes what a user has. */
type Added = { memories: number; bytes: number };

export const keyOfUser = (projectId: number, userId: string) => `${projectId} ${userId}`;

/** From 0 to 2^46, so that a number that counts up from it stays an exact integer. */
export const randomNumber = () => Math.floor(Math.random() * 2 ** 46);

/**
 * Records changes of the user's memories and returns the number of the last. On PostgreSQL, this
 * also locks the user against other writes until the transaction ends.
 */
export async function recordChange(
  tx: Tx,
  projectId: number,
  userId: string,
  { memories, bytes }: Added,
  changes = 1,
): Promise<number> {
  // Both numbers of a new user are random, because a search index of an erased user with the same
  // id may still be in memory, or on its way to be stored. Their sum is the number of changes, so
  // that all parameters are values of the new row, and such writes of a group can be joined.
  const before = randomNumber();
  const row = await tx.one<{ memories: number; change: number }>(
    `INSERT INTO users AS u (project_id, user_id, memories, bytes, last_change, snapshot_change)
     VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (project_id, user_id) DO UPDATE SET memories = u.memories + excluded.memories,
       bytes = u.bytes + excluded.bytes,
       last_change = u.last_change + excluded.last_change + excluded.snapshot_change
     RETURNING memories, last_change AS change`,
    [projectId, userId, memories, bytes, before + changes, -before],
  );
  if (row === undefined) throw new Error('the user was neither found nor created');
  if (row.memories === 0) {
    // The row contains the user's id, which must not remain after an erasure. Another write in the
    // same transaction may have saved a memory of the user meanwhile.
    await tx.run('DELETE FROM users WHERE project_id = $1 AND user_id = $2 AND memories = 0', [
      projectId,
      userId,
    ]);
  }
  return row.change;
}

/** Like `recordChange`, but does not create the user. Returns null if there is none. */
export async function changeKnownUser(
  tx: Tx,
  projectId: number,
  userId: string,
): Promise<number | null> {
  const row = await tx.one<{ change: number }>(
    `UPDATE users SET last_change = last_change + 1
     WHERE project_id = CAST($1 AS bigint) AND user_id = CAST($2 AS text)
     RETURNING last_change AS change`,
    [projectId, userId],
  );
  return row?.change ?? null;
}

/**
 * Returns the number of the user's last change, or -1 if there is no such user. On PostgreSQL,
 * this locks the user, so that nothing that the write reads of the user afterwards can change.
 */
export async function lockUser(tx: Tx, projectId: number, userId: string): Promise<number> {
  const row = await tx.one<{ change: number }>(
    `UPDATE users SET last_change = last_change WHERE project_id = $1 AND user_id = $2
     RETURNING last_change AS change`,
    [projectId, userId],
  );
  return row?.change ?? -1;
}

/**
 * Records a change for each entry, so that a part of them can be embedded or indexed at a time.
 * Returns a function that returns the next of the user's numbers.
 */
export async function recordChanges(
  tx: Tx,
  projectId: number,
  added: readonly (Added & { userId: string })[],
): Promise<(userId: string) => number> {
  const users = Map.groupBy(added, ({ userId }) => userId);
  const recorded = [...users].map(async ([userId, all]): Promise<[string, number]> => {
    const memories = all.reduce((sum, one) => sum + one.memories, 0);
    const bytes = all.reduce((sum, one) => sum + one.bytes, 0);
    const last = await recordChange(tx, projectId, userId, { memories, bytes }, all.length);
    return [userId, last - all.length];
  });
  const numbers = new Map(await Promise.all(recorded));
  return (userId) => {
    const number = numbers.get(userId);
    if (number === undefined) throw new Error('the change of the user was not recorded');
    numbers.set(userId, number + 1);
    return number + 1;
  };
}
