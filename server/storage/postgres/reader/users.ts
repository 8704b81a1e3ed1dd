import { type UserRow, usersPage } from '../../../memory/page.ts';
import type { Page, Storage } from '../../storage.ts';
import { query, type Run } from '../statement.ts';

export async function readUsers(
  run: Run,
  { projectId, now, onlyUserId = null, after, limit }: Parameters<Storage['listUsers']>[0],
): Promise<Page> {
  // Exclude expired memories that maintenance has not deleted yet. There are few of these.
  const rows = await query<UserRow>(
    run,
    `WITH expired AS MATERIALIZED (
       SELECT user_id, count(*) AS memories FROM memories
       WHERE expires_at <= $5::int8 AND project_id = $1::int8 GROUP BY user_id)
     SELECT u.user_id AS "userId", (u.memories - coalesce(e.memories, 0))::float8 AS memories,
       (SELECT m.created_at FROM memories AS m
        WHERE m.project_id = u.project_id AND m.bucket = u.bucket AND m.user_id = u.user_id
          AND (m.expires_at IS NULL OR m.expires_at > $5::int8)
        ORDER BY m.created_at DESC, m.id DESC LIMIT 1)::float8 AS "lastCreatedAt"
     FROM users AS u LEFT JOIN expired AS e ON e.user_id = u.user_id
     WHERE u.project_id = $1::int8 AND u.user_id > $2 AND ($3::text IS NULL OR u.user_id = $3)
       AND u.memories > coalesce(e.memories, 0)
     ORDER BY u.user_id LIMIT $4::int4`,
    projectId,
    after ?? '',
    onlyUserId,
    limit + 1,
    now,
  );
  return usersPage(rows, limit);
}
