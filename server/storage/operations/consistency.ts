import type { Tx } from '../engine.ts';

/**
 * Numbers of rows that contradict others: users and parts whose counts differ from their memories,
 * and rows of memories or users that do not exist.
 */
export type Contradictions = {
  users: number;
  tasks: number;
  vectors: number;
  snapshots: number;
  parts: number;
};

const wrongUsers = `SELECT count(*) AS n FROM (
    SELECT user_id FROM (
      SELECT project_id, user_id, memories, bytes, 1 AS users FROM users
      UNION ALL SELECT project_id, user_id, -1, -bytes, 0 FROM memories) AS counted
    GROUP BY project_id, user_id
    HAVING sum(memories) <> 0 OR sum(bytes) <> 0 OR count(*) = sum(users)) AS wrong`;

const withoutMemory = (table: 'tasks' | 'vectors') =>
  `SELECT count(*) AS n FROM ${table} AS t WHERE NOT EXISTS (
     SELECT 1 FROM memories AS m
     WHERE m.project_id = t.project_id AND m.user_id = t.user_id AND m.id = t.memory_id)`;

const withoutUser = `SELECT count(*) AS n FROM snapshots AS s WHERE NOT EXISTS (
    SELECT 1 FROM users AS u WHERE u.project_id = s.project_id AND u.user_id = s.user_id)`;

const wrongParts = `SELECT count(*) AS n FROM vector_parts AS p WHERE memories <> (
    SELECT count(*) FROM memories AS m
    WHERE m.project_id = p.project_id AND m.user_id = p.user_id
      AND m.last_change > p.after_change AND m.last_change <= p.last_change)`;

/** Reads all memories' rows, but not their texts. */
export async function findContradictions(tx: Tx): Promise<Contradictions> {
  // mutate-ignore constant: a count always has a row
  const count = async (text: string) => (await tx.one<{ n: number }>(text))?.n ?? 0;
  return {
    users: await count(wrongUsers),
    tasks: await count(withoutMemory('tasks')),
    vectors: await count(withoutMemory('vectors')),
    snapshots: await count(withoutUser),
    parts: await count(wrongParts),
  };
}
