import type { Database } from 'bun:sqlite';
import { tasksJson } from '../../../memory/json.ts';
import { takePage } from '../../../memory/page.ts';
import { listPosition, parseListPosition } from '../../position.ts';
import type { StoredTask } from '../../project-storage.ts';
import type { Page, Storage } from '../../storage.ts';
import { memoriesWithTasks, memoryColumns } from '../row.ts';

type TasksRead = Parameters<Storage['listTasks']>[0];

const newest: [createdAt: number, id: string] = [Number.MAX_SAFE_INTEGER, ''];

/**
 * Creates the list of a project's tasks. It sorts the creation times of all memories with the
 * status, and reads the texts only of those in the page.
 */
export function createTaskReads(db: Database): { listTasks(read: TasksRead): Page } {
  const find = (index: string, condition: string) =>
    db.prepare<{ rowId: number }, [number, number, string, number, string | null, number]>(
      `SELECT m.row_id AS rowId FROM tasks AS t INDEXED BY ${index} CROSS JOIN memories AS m
         ON m.project_id = t.project_id AND m.row_id = t.memory_row_id
       WHERE t.project_id = ?1 AND t.kind = 'index' AND ${condition}
         AND (m.created_at, m.id) < (?2, ?3) AND (m.expires_at IS NULL OR m.expires_at > ?4)
         AND (?5 IS NULL OR m.user_id = ?5)
       ORDER BY m.created_at DESC, m.id DESC LIMIT ?6`,
    );
  const keys = {
    processing: find('tasks_pending', 't.run_at IS NOT NULL'),
    failed: find('tasks_failed', 't.run_at IS NULL AND t.error_message IS NOT NULL'),
  };
  const one = db.prepare<StoredTask, [number, number]>(
    `SELECT ${memoryColumns}, t.attempts, t.error_message AS errorMessage
     FROM ${memoriesWithTasks} WHERE m.project_id = +? AND m.row_id = +?`,
  );
  function* rows({ projectId, now, onlyUserId = null, status, after, limit }: TasksRead) {
    const from = after === null ? newest : parseListPosition(after);
    const found = keys[status].all(projectId, ...from, now, onlyUserId, limit + 1);
    for (const { rowId } of found) {
      const task = one.get(projectId, rowId);
      if (task !== null) yield task;
    }
  }
  return {
    listTasks: (read) => takePage(rows(read), read.limit, listPosition, tasksJson),
  };
}
