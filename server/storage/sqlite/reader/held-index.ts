import type { Database } from 'bun:sqlite';
import { indexedChunks, splitChunks } from '../../../memory/chunks.ts';
import { SearchIndex } from '../../../search/index.ts';
import { reportProgress } from '../../../threads/serve.ts';

/*
 * The search index of one user, held in memory and brought up to date from the database. Inside a
 * read transaction `catchUp` reads what changed since the last time, which for a new index is
 * everything: building and updating are the same.
 */

export type HeldIndex = {
  index: SearchIndex;
  /** The user's last change that the index holds. */
  lastChange: number;
};

export type IndexReads = {
  /**
   * Makes the index equal to the database. False where `deadline` came first: what was done stays,
   * and the next call goes on from there.
   */
  catchUp(held: HeldIndex, user: { projectId: number; userId: string }, deadline: number): boolean;
};

type UserRow = { memories: number; lastChange: number };
type Changed = {
  id: string;
  createdAt: number;
  content: string;
  metadata: string;
  isSearchable: number;
  change: number;
};

const rowsPerStep = 1_000;

/** Secret, so that a client cannot choose words that collide. */
const seed = crypto.getRandomValues(new Uint32Array(1))[0];

export function newHeldIndex(): HeldIndex {
  return { index: new SearchIndex(seed), lastChange: -1 };
}

/** A memory is found once its indexing task has ended well; one that was saved has no task. */
const searchable = `(t.state IS NULL OR t.state = 'complete') AS isSearchable`;
const columns = `m.id, m.created_at AS createdAt, m.content, m.metadata, ${searchable}`;
const indexTask = `t.project_id = m.project_id AND t.memory_row_id = m.row_id AND t.kind = 'index'`;

export function createIndexReads(db: Database): IndexReads {
  const user = db.prepare<UserRow, [number, string]>(
    `SELECT memories, last_change AS lastChange FROM users WHERE project_id = ? AND user_id = ?`,
  );
  // A step ends between two changes: the rows of one change have one number.
  const changedMemories = db.prepare<Changed, [number, string, number, number]>(
    `SELECT ${columns}, m.last_change AS change FROM memories AS m LEFT JOIN tasks AS t ON ${indexTask}
     WHERE m.project_id = +?1 AND m.user_id = +?2 AND m.last_change > +?3 AND m.last_change <= +?4`,
  );
  const changedTasks = db.prepare<Changed, [number, string, number, number]>(
    `SELECT ${columns}, t.last_change AS change FROM tasks AS t JOIN memories AS m
       ON m.project_id = t.project_id AND m.row_id = t.memory_row_id
     WHERE t.project_id = +?1 AND t.user_id = +?2 AND t.last_change > +?3 AND t.last_change <= +?4
       AND t.kind = 'index'`,
  );
  const stepEnd = db.prepare<{ change: number }, [number, string, number]>(
    `SELECT last_change AS change FROM memories
     WHERE project_id = +? AND user_id = +? AND last_change > +?
     ORDER BY last_change LIMIT 1 OFFSET ${rowsPerStep}`,
  );
  const ids = db.prepare<{ id: string }, [number, string]>(
    'SELECT id FROM memories WHERE project_id = ? AND user_id = ?',
  );

  function apply(index: SearchIndex, row: Changed): void {
    const { id, createdAt, content, metadata, isSearchable } = row;
    const chunks = isSearchable ? indexedChunks(content, metadata, splitChunks(content)) : [];
    index.put({ id, createdAt, chunks });
  }

  /** What was deleted left no row that could say so; only the number of memories does. */
  function removeDeleted(index: SearchIndex, projectId: number, userId: string): void {
    const existing = new Set(ids.all(projectId, userId).map(({ id }) => id));
    for (const id of [...index.ids()]) if (!existing.has(id)) index.remove(id);
  }

  return {
    catchUp(held, { projectId, userId }, deadline) {
      const row = user.get(projectId, userId) ?? { memories: 0, lastChange: 0 };
      // Another user of the same name: the former was erased.
      if (row.lastChange < held.lastChange) Object.assign(held, newHeldIndex());
      while (held.lastChange < row.lastChange) {
        const from = held.lastChange;
        const to = stepEnd.get(projectId, userId, from)?.change ?? row.lastChange;
        const range = [projectId, userId, from, to] as const;
        for (const changed of changedMemories.iterate(...range)) apply(held.index, changed);
        for (const changed of changedTasks.iterate(...range)) apply(held.index, changed);
        held.lastChange = to;
        reportProgress();
        if (performance.now() > deadline && to < row.lastChange) return false;
      }
      if (held.index.size !== row.memories) removeDeleted(held.index, projectId, userId);
      return true;
    },
  };
}
