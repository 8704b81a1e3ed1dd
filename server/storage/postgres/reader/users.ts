import { usersPage } from '../../../memory/page.ts';
import type { UserPage, UserRow } from '../../project-storage.ts';
import type { Storage } from '../../storage.ts';
import { query, type Run, textArray } from '../statement.ts';

type UsersRead = Parameters<Storage['listUsers']>[0];

const allText = textFor('');
const namedText = textFor('AND u.user_id = ANY ($5::text[])');

export async function readUsers(
  run: Run,
  { projectId, now, onlyUserId = null, userIds, after, limit }: UsersRead,
): Promise<UserPage> {
  const page = [projectId, after ?? '', limit + 1, now];
  const ids = onlyUserId === null ? userIds : [onlyUserId];
  const rows = await (ids === undefined
    ? query<UserRow>(run, allText, ...page)
    : query<UserRow>(run, namedText, ...page, textArray(ids)));
  return usersPage(rows, limit);
}

/** Excludes expired memories that maintenance has not deleted yet. There are few of these. */
function textFor(condition: string): string {
  return `WITH expired AS MATERIALIZED (
      SELECT user_id, count(*) AS memories FROM memories
      WHERE expires_at <= $4::int8 AND project_id = $1::int8 GROUP BY user_id)
    SELECT u.user_id AS "userId", (u.memories - coalesce(e.memories, 0))::float8 AS memories,
      (SELECT m.created_at FROM memories AS m
       WHERE m.project_id = u.project_id AND m.bucket = u.bucket AND m.user_id = u.user_id
         AND (m.expires_at IS NULL OR m.expires_at > $4::int8)
       ORDER BY m.created_at DESC, m.id DESC LIMIT 1)::float8 AS "lastCreatedAt"
    FROM users AS u LEFT JOIN expired AS e ON e.user_id = u.user_id
    WHERE u.project_id = $1::int8 AND u.user_id > $2 ${condition}
      AND u.memories > coalesce(e.memories, 0)
    ORDER BY u.user_id LIMIT $3::int4`;
}
