import type { Database } from 'bun:sqlite';
import { measure } from '../../../memory/measurement.ts';
import type { MeasuredGroup, Measurement } from '../../project-storage.ts';
import type { Storage } from '../../storage.ts';
import { memoriesWithTasks, notExpired, statusColumn } from '../row.ts';

type MeasureRead = Parameters<Storage['measureMemories']>[0];
type Position = [userId: string, createdAt: number, id: string];
type Row = MeasuredGroup & { id: string };

/** While a part is read, no other read can use the thread. */
const maxPartMs = 20;
/** The number of rows between two looks at the clock. */
const rowsPerLook = 64;

const { MIN_SAFE_INTEGER: beforeAll, MAX_SAFE_INTEGER: afterAll } = Number;

/**
 * Creates the operation that measures memories, in the order of an index. SQLite finds the length
 * of a text without reading the text.
 */
export function createMeasure(db: Database): {
  measureMemories(read: MeasureRead): { sum: Measurement; next: string | null };
} {
  const select = (condition: string) =>
    db.prepare<Row, (string | number)[]>(
      `SELECT m.id, m.user_id AS userId, m.type, ${statusColumn}, 1 AS memories,
         octet_length(m.content) + octet_length(m.metadata) AS bytes,
         v.memory_row_id IS NOT NULL AS embedded,
         m.created_at AS oldestAt, m.created_at AS newestAt
       FROM ${memoriesWithTasks} LEFT JOIN vectors AS v
         ON v.memory_row_id = m.row_id AND v.change = m.last_change
         AND v.model_id = (SELECT model_id FROM models WHERE is_present)
       WHERE m.project_id = +? AND (m.user_id, m.created_at, m.id) > (+?, +?, +?)
         AND ${condition} AND ${notExpired}
       ORDER BY m.user_id, m.created_at, m.id`,
    );
  const all = select('true');
  const inRange = select('m.user_id <= +?');

  return {
    measureMemories({ projectId, now, onlyUserId = null, users, after }) {
      const position = after === null ? firstPosition(onlyUserId, users) : parsed(after);
      const through = onlyUserId ?? users?.through;
      const rows =
        through === undefined
          ? all.iterate(projectId, ...position, now)
          : inRange.iterate(projectId, ...position, through, now);
      return readPart(rows, after === null ? null : position[0]);
    },
  };
}

function firstPosition(onlyUserId: string | null, users: MeasureRead['users']): Position {
  if (onlyUserId !== null) return [onlyUserId, beforeAll, ''];
  return users === null ? ['', beforeAll, ''] : [users.after, afterAll, ''];
}

function parsed(position: string): Position {
  return JSON.parse(position);
}

function readPart(rows: Iterable<Row>, before: string | null) {
  const until = performance.now() + maxPartMs;
  const measured: Row[] = [];
  for (const row of rows) {
    measured.push(row);
    if (measured.length % rowsPerLook > 0 || performance.now() < until) continue;
    const position: Position = [row.userId, row.oldestAt, row.id];
    return { sum: measure(measured, before), next: JSON.stringify(position) };
  }
  return { sum: measure(measured, before), next: null };
}
