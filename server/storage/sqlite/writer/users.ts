import type { Database } from 'bun:sqlite';

/** The rows of users: how many memories each has, and the number of its last change. */
export type Users = {
  /** The number of the change that this transaction makes to the user, with `added` memories. */
  recordChange(projectId: number, userId: string, added: number): number;
};

/** Of a user who is new or came back: a number that no search index of an earlier one can hold. */
const firstChange = 'abs(random() % 70368744177664)';

export function createUsers(db: Database): Users {
  const upsert = db.prepare<{ memories: number; lastChange: number }, [number, string, number]>(
    `INSERT INTO users (project_id, user_id, memories, last_change) VALUES (?, ?, ?, ${firstChange})
     ON CONFLICT DO UPDATE SET memories = memories + excluded.memories,
       last_change = last_change + 1
     RETURNING memories, last_change AS lastChange`,
  );
  const remove = db.prepare('DELETE FROM users WHERE project_id = ? AND user_id = ?');
  return {
    recordChange(projectId, userId, added) {
      const row = upsert.get(projectId, userId, added);
      if (row === null) throw new Error('a user row was neither found nor made');
      // What is left of a user without memories would still name the user.
      if (row.memories === 0 && added < 0) remove.run(projectId, userId);
      return row.lastChange;
    },
  };
}
