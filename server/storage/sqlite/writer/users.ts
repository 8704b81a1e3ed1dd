import type { Database } from 'bun:sqlite';

export type Users = {
  /**
   * Records a change to the user's memories and adds `added` to their number. Returns the change
   * number.
   */
  recordChange(projectId: number, userId: string, added: number): number;
};

/** Random, because a search index of an erased user with the same id may still be in memory. */
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
      if (row === null) throw new Error('the user was neither found nor created');
      // The row contains the user's id, which must not remain after an erasure.
      if (row.memories === 0 && added < 0) remove.run(projectId, userId);
      return row.lastChange;
    },
  };
}
