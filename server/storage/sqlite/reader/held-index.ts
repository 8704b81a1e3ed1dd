import type { Database } from 'bun:sqlite';
import {
  addVectors,
  type ChangedMemory,
  type HeldIndex,
  IndexUpdate,
  newHeldIndex,
  removeMissing,
  type StoredVectors,
  vectorsOf,
} from '../../held-indexes.ts';

/**
 * Brings the in-memory search index of one user up to date. Inside a read transaction, `catchUp`
 * reads the rows that changed since the last update. A new index is built in the same way, from all
 * rows.
 */

export type IndexReads = {
  /** Updates the index to the database's current state. See IndexUpdate for the deadline. */
  catchUp(held: HeldIndex, user: User, model: SearchModel | null): void;
};

/** The model whose vectors a search needs. */
export type SearchModel = { modelId: number; dims: number };

type User = { projectId: number; userId: string };
type UserRow = { memories: number; lastChange: number; embeddedChange: number };
const noUser: UserRow = { memories: 0, lastChange: 0, embeddedChange: -1 };

/** A memory is searchable unless it has an indexing task that is not complete. */
const searchable = `(t.state IS NULL OR t.state = 'complete') AS isSearchable`;
const columns = `m.id, m.created_at AS createdAt, m.occurred_at AS occurredAt, m.content, m.metadata,
  ${searchable}, m.last_change AS memoryChange`;
const indexTask = `t.project_id = m.project_id AND t.memory_row_id = m.row_id AND t.kind = 'index'`;

export function createIndexReads(db: Database): IndexReads {
  const user = db.prepare<UserRow, [number, string]>(
    `SELECT memories, last_change AS lastChange, embedded_change AS embeddedChange FROM users
     WHERE project_id = ? AND user_id = ?`,
  );
  // The second half selects the memories whose task has changed. The first half excludes them, so
  // that a user's first search does not index each ingested memory twice.
  const changed = db.prepare<ChangedMemory, [number, string, number]>(
    `SELECT ${columns}, m.last_change AS change
       FROM memories AS m LEFT JOIN tasks AS t ON ${indexTask}
       WHERE m.project_id = +?1 AND m.user_id = +?2 AND m.last_change > +?3
         AND (t.last_change > +?3) IS NOT TRUE
     UNION ALL
     SELECT ${columns}, t.last_change AS change
       FROM tasks AS t JOIN memories AS m ON ${indexTask}
       WHERE t.project_id = +?1 AND t.user_id = +?2 AND t.last_change > +?3
     ORDER BY change`,
  );
  const vectors = db.prepare<StoredVectors, [number, string, number, number, number]>(
    `SELECT m.id, v.change, v.data
     FROM memories AS m JOIN vectors AS v ON v.memory_row_id = m.row_id
     WHERE m.project_id = +?1 AND m.user_id = +?2 AND m.last_change > +?3
       AND m.last_change <= +?4 AND v.model_id = +?5 AND v.change = m.last_change`,
  );
  const ids = db.prepare<{ id: string }, [number, string]>(
    'SELECT id FROM memories WHERE project_id = ? AND user_id = ?',
  );

  /** Removes from the index the memories that are no longer in the database. */
  function removeDeleted(held: HeldIndex, { projectId, userId }: User): void {
    const existing = new Set(ids.all(projectId, userId).map(({ id }) => id));
    removeMissing(held, existing);
  }

  return {
    catchUp(held, of, model) {
      const { projectId, userId } = of;
      const row = user.get(projectId, userId) ?? noUser;
      // A lower change number means that the user was erased and created again.
      if (row.lastChange < held.lastChange) Object.assign(held, newHeldIndex());
      if (held.lastChange < row.lastChange) {
        const update = new IndexUpdate(held);
        for (const memory of changed.iterate(projectId, userId, held.lastChange)) {
          update.apply(memory);
        }
        // mutate-ignore removal: the next search reads the same change
        held.lastChange = row.lastChange;
      }
      if (held.index.size !== row.memories) removeDeleted(held, of);
      if (model === null) return;
      const own = vectorsOf(held, model);
      if (own.change === row.embeddedChange) return;
      const read = [projectId, userId, own.change, row.embeddedChange, model.modelId] as const;
      addVectors(own, vectors.iterate(...read), row.embeddedChange);
    },
  };
}
