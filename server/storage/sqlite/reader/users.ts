import type { Database } from 'bun:sqlite';
import { usersPage } from '../../../memory/page.ts';
import type { UserPage, UserRow } from '../../project-storage.ts';
import type { Storage } from '../../storage.ts';

type UsersRead = Parameters<Storage['listUsers']>[0];

export function createUserReads(db: Database): { listUsers(read: UsersRead): UserPage } {
  // Exclude expired memories that maintenance has not deleted yet. There are few of these.
  const select = (condition: string) =>
    db.prepare<UserRow, [number, string, string | null, number, number]>(
      `WITH expired AS MATERIALIZED (
         SELECT user_id, count(*) AS memories FROM memories
         WHERE expires_at <= ?5 AND +project_id = ?1 GROUP BY user_id)
       SELECT u.user_id AS userId, u.memories - ifnull(e.memories, 0) AS memories,
         (SELECT m.created_at FROM memories AS m
          WHERE m.project_id = u.project_id AND m.user_id = u.user_id
            AND (m.expires_at IS NULL OR m.expires_at > ?5)
          ORDER BY m.created_at DESC, m.id DESC LIMIT 1) AS lastCreatedAt
       FROM users AS u LEFT JOIN expired AS e ON e.user_id = u.user_id
       WHERE u.project_id = ?1 AND ${condition} AND u.memories > ifnull(e.memories, 0)
       ORDER BY u.user_id LIMIT ?4`,
    );
  const all = select('u.user_id > ?2');
  const named = select('u.user_id > ?2 AND u.user_id IN (SELECT value FROM json_each(?3))');
  return {
    listUsers({ projectId, now, onlyUserId = null, userIds, after, limit }) {
      const ids = onlyUserId === null ? userIds : [onlyUserId];
      const page = ids === undefined ? all : named;
      const wanted = ids === undefined ? null : JSON.stringify(ids);
      // mutate-ignore constant: the additional row is not returned
      return usersPage(page.all(projectId, after ?? '', wanted, limit + 1, now), limit);
    },
  };
}
