import type { NumberedPassage, Passage, Storage, StoredMemory } from '../storage.ts';
import { columns, joined } from './row.ts';
import type { Connections } from './settings.ts';

/** Whose passages: the columns they are stored under. */
export type Owner = { projectId: number; userId: string; seq: number };

export type Passages = Pick<Storage, 'listPassages' | 'getPassage'> & {
  /** These two run inside a write; the writer's transaction is around them. */
  insert(owner: Owner, first: number, passages: Passage[]): void;
  remove(owner: Owner): void;
};

type Placed = StoredMemory & Passage;

/** Passages read in one go: about a millisecond, where the file is in the system's cache. */
const listedAtOnce = 4_000;

export function createPassages({ reads, writes }: Connections): Passages {
  const insert = writes.prepare('INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?, ?)');
  const remove = writes.prepare(
    'DELETE FROM passages WHERE project_id = ? AND user_id = ? AND memory_seq = ?',
  );
  const list = reads.prepare<NumberedPassage, [number, string, number, number, number]>(
    `SELECT memory_seq AS memory, ordinal, folded FROM passages
     WHERE project_id = ? AND user_id = ? AND (memory_seq, ordinal) > (?, ?)
     ORDER BY memory_seq, ordinal LIMIT +?`,
  );
  const place = reads.prepare<Placed, [number, string, number, number]>(
    `SELECT ${columns}, p.start, p.length, p.folded FROM ${joined}
     JOIN passages AS p ON p.project_id = m.project_id AND p.user_id = m.user_id
       AND p.memory_seq = m.seq
     WHERE m.project_id = +? AND m.user_id = +? AND m.seq = +? AND p.ordinal = +?`,
  );
  return {
    insert({ projectId, userId, seq }, first, passages) {
      let ordinal = first;
      for (const { start, length, folded } of passages) {
        insert.run(projectId, userId, seq, ordinal, start, length, folded);
        ordinal += 1;
      }
    },
    remove: ({ projectId, userId, seq }) => remove.run(projectId, userId, seq),
    async *listPassages(projectId, userId) {
      let [memory, ordinal] = [0, 0];
      for (;;) {
        const some = list.all(projectId, userId, memory, ordinal, listedAtOnce);
        yield some;
        const last = some.at(-1);
        if (last === undefined || some.length < listedAtOnce) return;
        ({ memory, ordinal } = last);
      }
    },
    async getPassage(projectId, userId, { memory: seq, ordinal }) {
      // The number of one that was deleted may be another user's by now.
      const placed = place.get(projectId, userId, seq, ordinal);
      if (placed === null) return null;
      const { start, length, folded, ...memory } = placed;
      return { memory, start, length, folded };
    },
  };
}
