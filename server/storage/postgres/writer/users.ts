import { bucketOf } from '../../../bucket.ts';
import { byKey } from '../row.ts';
import { overPlaces, overRows, type Row, type Run, type Statement } from '../statement.ts';

type User = { projectId: number; userId: string };

/** A change to a user's memories. `added` is the change in the number of memories. */
export type UserChange = User & { added: number };

/**
 * A search index of an erased user may still be in memory, so a new user's change numbers start at
 * a random number.
 */
const maxFirstChange = 2 ** 46; // mutate-ignore constant: the number is random

const upserts = overRows(
  ['int8', 'int2', 'text', 'int8', 'int8'],
  (values) => `INSERT INTO users AS u (project_id, bucket, user_id, memories, last_change) ${values}
    ON CONFLICT (project_id, bucket, user_id) DO UPDATE SET
      memories = u.memories + excluded.memories, last_change = u.last_change + 1
    RETURNING u.project_id::float8 AS "projectId", u.user_id AS "userId",
      u.last_change::float8 AS "lastChange"`,
);

const removals = overPlaces(
  ['int8', 'int2', 'text'],
  (values, inBucket) => `DELETE FROM users
    WHERE memories = 0 AND (project_id, bucket, user_id) IN (${values})${inBucket('bucket')}`,
);

const additions = overPlaces(
  ['int8', 'int2', 'text', 'int8'],
  (values, inBucket) => `UPDATE users AS u SET memories = u.memories + v.added
    FROM (${values}) AS v (project_id, bucket, user_id, added)
    WHERE u.project_id = v.project_id AND u.bucket = v.bucket AND u.user_id = v.user_id
      ${inBucket('u.bucket')}`,
);

const reversals = overPlaces(
  ['int8', 'int2', 'text'],
  (values, inBucket) => `UPDATE users SET last_change = last_change - 1
    WHERE (project_id, bucket, user_id) IN (${values})${inBucket('bucket')}`,
);

/**
 * Locks the users' rows in a fixed order until the transaction ends, and increments their change
 * numbers. These statements must precede any other change to the users' memories.
 */
export function countChanges(changes: readonly UserChange[]): Statement[] {
  const rows = merged(changes).map(({ projectId, userId, added }) => {
    const firstChange = Math.floor(Math.random() * maxFirstChange);
    return [projectId, bucketOf(userId), userId, added, firstChange];
  });
  return upserts(rows.sort(byKey));
}

export function addMemories(changes: readonly UserChange[]): Statement[] {
  const rows = merged(changes).filter(({ added }) => added !== 0);
  return additions(
    rows.map(({ projectId, userId, added }) => [projectId, bucketOf(userId), userId, added]),
  );
}

/**
 * Undoes `countChanges`, in the same transaction, for users whose memories it leaves unchanged. A
 * search index in memory then stays up to date.
 */
export function uncountChanges(users: readonly User[]): Statement[] {
  const rows = merged(users.map((user) => ({ ...user, added: 0 })));
  return reversals(rows.map(({ projectId, userId }) => [projectId, bucketOf(userId), userId]));
}

/** Deletes the rows of users without memories, because these rows still contain the user ids. */
export function removeEmptyUsers(users: readonly User[]): Statement[] {
  const rows = users.map(({ projectId, userId }) => [projectId, bucketOf(userId), userId]);
  return removals(rows.sort(byKey));
}

/** Returns the change number of a user. Throws if `countChanges` was not called for the user. */
export type ChangeNumber = (user: User) => number;

export function changeNumbers(rows: readonly Row[]): ChangeNumber {
  const counted = rows as (User & { lastChange: number })[];
  const numbers = new Map(counted.map((row) => [nameOf(row), row.lastChange]));
  return (user) => {
    const number = numbers.get(nameOf(user));
    if (number === undefined) throw new Error('no change number was returned for the user');
    return number;
  };
}

/**
 * Locks the users' rows as `countChanges` does, then reads. Until the transaction ends, no other
 * transaction can change the users' memories.
 */
export async function lockUsers(
  run: Run,
  users: readonly (User & { added?: number })[],
  reads: readonly Statement[] = [],
): Promise<{ changeOf: ChangeNumber; rows: Row[] }> {
  const locks = countChanges(users.map((user) => ({ added: 0, ...user })));
  const answers = await run([...locks, ...reads]);
  const changeOf = changeNumbers(answers.slice(0, locks.length).flat());
  return { changeOf, rows: answers.slice(locks.length).flat() };
}

function nameOf({ projectId, userId }: User): string {
  return JSON.stringify([projectId, userId]);
}

function merged(changes: readonly UserChange[]): UserChange[] {
  const byUser = new Map<string, UserChange>();
  for (const change of changes) {
    const name = nameOf(change);
    const added = (byUser.get(name)?.added ?? 0) + change.added;
    byUser.set(name, { ...change, added });
  }
  return [...byUser.values()];
}
