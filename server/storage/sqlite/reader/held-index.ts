import type { Database } from 'bun:sqlite';
import type { SearchIndex } from '../../../search/index.ts';
import { reportProgress } from '../../../threads/serve.ts';
import {
  applyChange,
  type ChangedMemory,
  type HeldIndex,
  newHeldIndex,
  removeMissing,
} from '../../held-indexes.ts';

/*
 * The search index of one user, held in memory and brought up to date from the database. Inside a
 * read transaction `catchUp` reads what changed since the last time, which for a new index is
 * everything: building and updating are the same.
 */

export type IndexReads = {
  /**
   * Makes the index equal to the database. False where `deadline` came first: what was done stays,
   * and the next call goes on from there.
   */
  catchUp(held: HeldIndex, user: User, deadline: number): boolean;
};

type User = { projectId: number; userId: string };
type UserRow = { memories: number; lastChange: number };
type Changed = ChangedMemory & { change: number };

/** Text between two signs of life: a few milliseconds. A row costs as much as a short text. */
const progressUnits = 200_000;
const rowUnits = 100;

/** A memory is found once its indexing task has ended well; one that was saved has no task. */
const searchable = `(t.state IS NULL OR t.state = 'complete') AS isSearchable`;
const columns = `m.id, m.created_at AS createdAt, m.content, m.metadata, ${searchable}`;
const indexTask = `t.project_id = m.project_id AND t.memory_row_id = m.row_id AND t.kind = 'index'`;

export function createIndexReads(db: Database): IndexReads {
  const user = db.prepare<UserRow, [number, string]>(
    `SELECT memories, last_change AS lastChange FROM users WHERE project_id = ? AND user_id = ?`,
  );
  const changed = db.prepare<Changed, [number, string, number]>(
    `SELECT ${columns}, m.last_change AS change
       FROM memories AS m LEFT JOIN tasks AS t ON ${indexTask}
       WHERE m.project_id = +?1 AND m.user_id = +?2 AND m.last_change > +?3
     UNION ALL
     SELECT ${columns}, t.last_change AS change
       FROM tasks AS t JOIN memories AS m ON ${indexTask}
       WHERE t.project_id = +?1 AND t.user_id = +?2 AND t.last_change > +?3
     ORDER BY change`,
  );
  const ids = db.prepare<{ id: string }, [number, string]>(
    'SELECT id FROM memories WHERE project_id = ? AND user_id = ?',
  );

  /** Where the deadline comes first, the index holds every change before the one it stopped at. */
  function applyChanges(held: HeldIndex, { projectId, userId }: User, deadline: number): boolean {
    let applied = held.lastChange;
    let units = 0;
    for (const row of changed.iterate(projectId, userId, held.lastChange)) {
      if (row.change > applied) {
        held.lastChange = applied;
        if (performance.now() > deadline) return false;
        applied = row.change;
      }
      applyChange(held.index, row);
      units += row.content.length + rowUnits;
      if (units < progressUnits) continue;
      reportProgress();
      units = 0;
    }
    return true;
  }

  /** What was deleted left no row that could say so; only the number of memories does. */
  function removeDeleted(index: SearchIndex, { projectId, userId }: User): void {
    const existing = new Set(ids.all(projectId, userId).map(({ id }) => id));
    removeMissing(index, existing);
  }

  return {
    catchUp(held, of, deadline) {
      const row = user.get(of.projectId, of.userId) ?? { memories: 0, lastChange: 0 };
      // Another user of the same name: the former was erased.
      if (row.lastChange < held.lastChange) Object.assign(held, newHeldIndex());
      if (held.lastChange < row.lastChange && !applyChanges(held, of, deadline)) return false;
      held.lastChange = row.lastChange;
      if (held.index.size !== row.memories) removeDeleted(held.index, of);
      return true;
    },
  };
}
