import type { Database } from 'bun:sqlite';
import type { Passage } from '../storage.ts';

/** Whose passages: the columns they are stored beside. */
export type Owner = { projectId: number; userId: string; seq: number };

export type Passages = {
  insert(owner: Owner, first: number, passages: Passage[]): void;
  remove(owner: Owner): void;
};

/** Runs inside a write; the writer's transaction is around it. */
export function createPassages(db: Database): Passages {
  const insert = db.prepare('INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?)');
  const remove = db.prepare(
    'DELETE FROM passages WHERE project_id = ? AND user_id = ? AND memory_seq = ?',
  );
  return {
    insert({ projectId, userId, seq }, first, passages) {
      for (const [index, { start, length }] of passages.entries()) {
        insert.run(projectId, userId, seq, first + index, start, length);
      }
    },
    remove: ({ projectId, userId, seq }) => remove.run(projectId, userId, seq),
  };
}
