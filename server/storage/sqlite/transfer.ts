import type { Database } from 'bun:sqlite';
import type { ImportedMemory, ImportOutcome, Storage, StoredMemory } from '../storage.ts';
import type { Answers } from './answers.ts';
import type { Passages } from './passages.ts';
import type { Room } from './room.ts';
import { columns, insertMemory, insertValues, joined } from './row.ts';
import type { Scrubber } from './scrub.ts';

type Transfer = Pick<Storage, 'deleteAllMemories' | 'importMemories' | 'exportMemories'>;

/** Whole users at a time: erasing one, and taking memories in and out as they are. */
export function createTransfer(
  db: Database,
  answers: Answers,
  passagesOf: Passages,
  scrubber: Scrubber,
  ensureRoom: Room,
): Transfer {
  const erase = createErase(db, answers, scrubber);
  const take = createTake(db, passagesOf);
  const page = db.prepare<StoredMemory, [number, string, number]>(
    `SELECT ${columns} FROM ${joined} WHERE m.project_id = ? AND m.id > ?
     ORDER BY m.id LIMIT ?`,
  );
  return {
    async deleteAllMemories(write) {
      const { projectId, userId } = write;
      const result = await answers.answerOnce(write, () => ({
        outcome: erase(projectId, userId),
      }));
      if (!result.replayed) scrubber.wake();
      return result;
    },
    importMemories: (write) =>
      answers.answerOnce(write, () => {
        const { projectId, memories } = write;
        ensureRoom(projectId, memories.filter(({ status }) => status === 'processing').length);
        return { outcome: memories.map((memory) => take(projectId, memory)) };
      }),
    exportMemories: async ({ projectId, after, limit }) => page.all(projectId, after ?? '', limit),
  };
}

function createErase(db: Database, { cutAnswersOfUser }: Answers, scrubber: Scrubber) {
  const ofUser = 'SELECT seq FROM memories WHERE project_id = ?1 AND user_id = ?2';
  const jobs = db.prepare(`DELETE FROM jobs WHERE project_id = ?1 AND memory_seq IN (${ofUser})`);
  const passages = db.prepare('DELETE FROM passages WHERE project_id = ? AND user_id = ?');
  const memories = db.prepare('DELETE FROM memories WHERE project_id = ? AND user_id = ?');
  return (projectId: number, userId: string): number => {
    cutAnswersOfUser(projectId, userId);
    jobs.run(projectId, userId);
    passages.run(projectId, userId);
    const { changes } = memories.run(projectId, userId);
    if (changes > 0) scrubber.note();
    return changes;
  };
}

function createTake(db: Database, passagesOf: Passages) {
  const known = db.prepare('SELECT 1 FROM memories WHERE project_id = ? AND id = ?');
  const origin = db.prepare(
    `SELECT 1 FROM memories WHERE project_id = ? AND user_id = ? AND ifnull(source, '') = ?
     AND external_id = ?`,
  );
  const insert = db.prepare<{ seq: number }, (string | number | null)[]>(insertMemory);
  const job = db.prepare(
    `INSERT INTO jobs
     (project_id, memory_seq, state, accepted_at, run_at, updated_at)
     VALUES (?1, ?2, ?3, ?4, ?4, ?4)`,
  );
  return (projectId: number, memory: ImportedMemory): ImportOutcome => {
    const { id, userId, source, externalId, status, createdAt, updatedAt } = memory;
    if (known.get(projectId, id) !== null) return 'skipped';
    const taken =
      externalId !== null && origin.get(projectId, userId, source ?? '', externalId) !== null;
    if (taken) return 'taken';
    const seq = insert.get(...insertValues(projectId, memory, createdAt, updatedAt))?.seq ?? 0;
    passagesOf.insert({ projectId, userId, seq }, 0, memory.passages);
    if (status !== 'complete') {
      job.run(projectId, seq, status === 'failed' ? 'failed' : 'waiting', updatedAt);
    }
    return 'imported';
  };
}
