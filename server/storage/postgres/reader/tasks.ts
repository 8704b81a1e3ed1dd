import { tasksJson } from '../../../memory/json.ts';
import { takePage } from '../../../memory/page.ts';
import { listPosition, parseListPosition } from '../../position.ts';
import type { Page, Storage, StoredTask } from '../../storage.ts';
import { memoryColumns, notExpired, withTask } from '../row.ts';
import { query, type Run } from '../statement.ts';
import { gather, isShort, measured, type Row } from './list.ts';

type TasksRead = Parameters<Storage['listTasks']>[0];

const texts = {
  processing: textFor('t.run_at IS NOT NULL'),
  failed: textFor('t.run_at IS NULL AND t.error_message IS NOT NULL'),
};

/**
 * Lists a project's tasks. The database sorts the creation times of all memories with the status,
 * and reads the texts only of those in the page.
 */
export async function readTasks(run: Run, read: TasksRead): Promise<Page> {
  const batch = read.limit + 1;
  const rows = await gather(
    (after) => queryTasks(run, { ...read, after }, batch),
    { ...read, batch, matches: () => true },
    listPosition,
  );
  return takePage(rows, read.limit, listPosition, tasksJson);
}

function queryTasks(run: Run, read: TasksRead, batch: number): Promise<(StoredTask & Row)[]> {
  const { projectId, now, onlyUserId = null, status, after } = read;
  const newest: [number, string] = [Number.MAX_SAFE_INTEGER, ''];
  const from = after === null ? newest : parseListPosition(after);
  return query(run, texts[status], projectId, ...from, now, onlyUserId, batch);
}

function textFor(condition: string): string {
  const keys = measured(
    `FROM tasks AS t JOIN memories AS m
       ON m.project_id = t.project_id AND m.bucket = t.bucket AND m.id = t.memory_id
     WHERE t.project_id = $1::int8 AND t.kind = 'index' AND ${condition}
       AND (m.created_at, m.id) < ($2::int8, $3) AND ${notExpired('$4::int8')}
       AND ($5::text IS NULL OR m.user_id = $5)
     ORDER BY m.created_at DESC, m.id DESC LIMIT $6::int4`,
    'm.project_id, m.bucket, m.id, m.created_at',
    'created_at DESC, id DESC',
  );
  return `SELECT m.bucket, s.octets::float8 AS octets, s.total::float8 AS total, ${memoryColumns},
      t.attempts, t.error_message AS "errorMessage"
    FROM ${keys} AS s
    JOIN memories AS m ON m.project_id = s.project_id AND m.bucket = s.bucket AND m.id = s.id
    ${withTask}
    WHERE s.${isShort} ORDER BY m.created_at DESC, m.id DESC`;
}
