import type { UserOrder } from '../../../sdk/contract/project.ts';
import type { TaskStatus } from '../../../sdk/contract/tasks.ts';
import { tasksJson } from '../../memory/json.ts';
import { addMemories } from '../../memory/measurement.ts';
import { createPage } from '../../memory/page.ts';
import type { ReadOperation, Tx } from '../engine.ts';
import {
  exportPosition,
  listPosition,
  parseExportPosition,
  parseListPosition,
} from '../position.ts';
import type { Page, PageRange, Read, StoredTask } from '../types/memories.ts';
import type { MeasuredMemory, Measurement, UserRow } from '../types/project.ts';
import { memoriesWithTasks, memoryColumns, memoryStatus, notExpired } from './columns.ts';
import { isBeyond } from './lists.ts';
import { StatementValues } from './statement-values.ts';

type Users = Read & PageRange & { order: UserOrder };
type Tasks = Read & PageRange & { status: TaskStatus };
type Measured = { sum: Measurement; next: string | null };
type Measure = Read & { sum: Measurement; after: string | null };

type Counted = Omit<UserRow, 'lastCreatedAt'>;

type Sizes = Pick<UserRow, 'memories' | 'bytes'>;

const orders: Record<UserOrder, string> = {
  userId: 'user_id',
  memories: 'memories DESC, user_id',
  bytes: 'bytes DESC, user_id',
};

/**
 * Returns the project's users who have memories, ordered by id. In the order of their memories or
 * bytes, returns only one page, with the largest users first.
 */
export const listUsers: ReadOperation<Users, { users: UserRow[]; next: string | null }> = {
  async run(tx, read) {
    const { limit, order } = read;
    const counted = await countUsers(tx, read);
    const users = counted.slice(0, limit);
    const times = await newestOf(tx, read, users);
    // mutate-ignore constant: every user has a memory
    const shown = users.map((user) => ({ ...user, lastCreatedAt: times.get(user.userId) ?? 0 }));
    const last = order === 'userId' && counted.length > limit ? users.at(-1) : undefined;
    return { users: shown, next: last?.userId ?? null };
  },
};

/**
 * The counts in `users` include expired memories that maintenance has not deleted yet. There are
 * few of these. They are not subtracted in the statement, because PostgreSQL would compare each
 * user with each of those who have some. As many users may have to move down, or be left out.
 */
async function countUsers(tx: Tx, read: Users): Promise<Counted[]> {
  const { order, limit } = read;
  const expired = await countExpired(tx, read);
  const stored = await readUsers(tx, read, limit + 1 + expired.size);
  const users = stored
    .map(({ userId, memories, bytes }): Counted => {
      const gone = expired.get(userId) ?? { memories: 0, bytes: 0 };
      return { userId, memories: memories - gone.memories, bytes: bytes - gone.bytes };
    })
    .filter(({ memories }) => memories > 0);
  if (order !== 'userId') {
    users.sort((one, other) => other[order] - one[order] || byBytes(one.userId, other.userId));
  }
  return users.slice(0, limit + 1);
}

/** The order of both databases, which is not that of UTF-16 units. */
const byBytes = (one: string, other: string) =>
  Buffer.compare(Buffer.from(one), Buffer.from(other));

/** The plus keeps SQLite from reading all memories of the project by another index. */
async function countExpired(tx: Tx, { projectId, now }: Users): Promise<Map<string, Sizes>> {
  const rows = await tx.all<Counted>(
    `SELECT user_id AS "userId", count(*) AS memories, CAST(sum(bytes) AS bigint) AS bytes
     FROM memories
     WHERE +project_id = CAST($1 AS bigint) AND expires_at <= CAST($2 AS bigint)
     GROUP BY user_id`,
    [projectId, now],
  );
  return new Map(rows.map(({ userId, ...sizes }) => [userId, sizes]));
}

function readUsers(
  tx: Tx,
  { projectId, onlyUserId = null, order, after }: Users,
  limit: number,
): Promise<Counted[]> {
  const values = new StatementValues();
  const where = [
    `project_id = ${values.bigint(projectId)}`,
    `user_id > ${values.text(after ?? '')}`,
  ];
  if (onlyUserId !== null) where.push(`user_id = ${values.text(onlyUserId)}`);
  return tx.all<Counted>(
    `SELECT user_id AS "userId", memories, bytes FROM users WHERE ${where.join(' AND ')}
     ORDER BY ${orders[order]} LIMIT ${values.bigint(limit)}`,
    values.list,
  );
}

/** Returns when the newest memory of each of the users was created. */
async function newestOf(
  tx: Tx,
  { projectId, now }: Users,
  users: readonly Counted[],
): Promise<Map<string, number>> {
  if (users.length === 0) return new Map();
  const values = new StatementValues();
  const current = notExpired(values.add(now));
  const ids = users.map(({ userId }) => values.text(userId)).join(', ');
  const rows = await tx.all<{ userId: string; lastCreatedAt: number }>(
    `SELECT u.user_id AS "userId",
       (SELECT m.created_at FROM memories AS m
        WHERE m.project_id = u.project_id AND m.user_id = u.user_id AND ${current}
        ORDER BY m.created_at DESC, m.id DESC LIMIT 1) AS "lastCreatedAt"
     FROM users AS u WHERE u.project_id = ${values.bigint(projectId)} AND u.user_id IN (${ids})`,
    values.list,
  );
  return new Map(rows.map(({ userId, lastCreatedAt }) => [userId, lastCreatedAt]));
}

type TaskKey = { userId: string; id: string; createdAt: number; bytes: number };

/**
 * Conditions that the indexes of pending and of failed tasks have. The index of pending tasks does
 * not begin with the project; the plus keeps SQLite from using one that does.
 */
const hasStatus = {
  processing: (project: string) => `t.run_at IS NOT NULL AND +t.project_id = ${project}`,
  failed: (project: string) =>
    `t.project_id = ${project} AND t.run_at IS NULL AND t.error_message IS NOT NULL`,
};

/**
 * Returns the project's memories with this status, and what the queue knows of them. Memories are
 * ordered as by `listMemories`, newest first. A page with large texts contains fewer memories.
 *
 * Sorts the creation times of all memories with the status, and reads the texts only of those in
 * the page.
 */
export const listTasks: ReadOperation<Tasks, Page> = {
  async run(tx, { projectId, now, onlyUserId = null, status, after, limit }) {
    const values = new StatementValues();
    const where = [
      `t.kind = 'index' AND ${hasStatus[status](values.bigint(projectId))}`,
      notExpired(values.add(now)),
    ];
    if (onlyUserId !== null) where.push(`t.user_id = ${values.text(onlyUserId)}`);
    if (after !== null) {
      const [createdAt, id] = parseListPosition(after);
      const position = `${values.bigint(createdAt)}, ${values.text(id)}`;
      where.push(`(m.created_at, m.id) < (${position})`);
    }
    const keys = await tx.all<TaskKey>(
      `SELECT m.user_id AS "userId", m.id, m.created_at AS "createdAt", m.bytes
       FROM tasks AS t CROSS JOIN memories AS m
       WHERE m.project_id = t.project_id AND m.user_id = t.user_id AND m.id = t.memory_id
         AND ${where.join(' AND ')}
       ORDER BY m.created_at DESC, m.id DESC LIMIT ${values.bigint(limit + 1)}`,
      values.list,
    );
    const page = createPage<StoredTask>(limit, listPosition, tasksJson);
    for (const { userId, id, bytes } of keys) {
      if (!page.hasRoom(bytes)) return page.cut();
      const task = await tx.one<StoredTask>(
        `SELECT ${memoryColumns}, m.content, t.attempts, t.error_message AS "errorMessage"
         FROM ${memoriesWithTasks}
         WHERE m.project_id = CAST($1 AS bigint) AND m.user_id = CAST($2 AS text)
           AND m.id = CAST($3 AS text)`,
        [projectId, userId, id],
      );
      if (task !== undefined && !page.add(task)) return page.cut();
    }
    return page.whole();
  },
};

/** The number of memories in a part. Reading them takes a few milliseconds. */
const measuredRows = 2_000;

/**
 * Adds a part of the project's memories to `sum`. The parts are in the order of the users, and so
 * short that other reads do not have to wait. `after` is the `next` of the previous part, or null
 * for the first part.
 */
export const measureMemories: ReadOperation<Measure, Measured> = {
  async run(tx, { projectId, now, onlyUserId = null, sum, after }) {
    // mutate-ignore operand: affects only speed
    const first = [onlyUserId ?? '', Number.MIN_SAFE_INTEGER, ''] as const;
    const start = after === null ? first : parseExportPosition(after);
    const [userId] = start;
    const values = new StatementValues();
    const where = [
      `m.project_id = ${values.bigint(projectId)}`,
      isBeyond(values, start, onlyUserId),
      notExpired(values.add(now)),
    ];
    if (onlyUserId !== null) where.push(`m.user_id = ${values.text(onlyUserId)}`);
    const rows = await tx.all<MeasuredMemory & { id: string }>(
      `SELECT m.user_id AS "userId", m.created_at AS "createdAt", m.id, m.type, m.bytes,
         ${memoryStatus} AS status, CASE WHEN v.memory_id IS NULL THEN 0 ELSE 1 END AS embedded
       FROM ${memoriesWithTasks} LEFT JOIN vectors AS v ON v.project_id = m.project_id
         AND v.user_id = m.user_id AND v.memory_id = m.id AND v.change = m.last_change
         AND v.model_id = (SELECT model_id FROM models WHERE is_present = 1)
       WHERE ${where.join(' AND ')}
       ORDER BY m.user_id, m.created_at, m.id LIMIT ${measuredRows}`,
      values.list,
    );
    const last = rows.length < measuredRows ? undefined : rows.at(-1);
    return {
      sum: addMemories(sum, rows, after === null ? null : userId),
      next: last === undefined ? null : exportPosition(last),
    };
  },
};
