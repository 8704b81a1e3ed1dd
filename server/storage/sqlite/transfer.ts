import type { Database } from 'bun:sqlite';
import { mapInTurns, type Turn } from '../../turns.ts';
import type { ImportedMemory, ImportOutcome, Storage, StoredMemory } from '../storage.ts';
import type { Answers } from './answers.ts';
import type { Passages } from './passages.ts';
import type { Room } from './room.ts';
import { columns, firstOfUser, joined, prepareInsert } from './row.ts';
import type { Scrubber } from './scrub.ts';
import type { Connections } from './settings.ts';

type Transfer = Pick<Storage, 'deleteAllMemories' | 'importMemories' | 'exportMemories'>;

/** Whole users at a time: erasing one, and taking memories in and out as they are. */
export function createTransfer(
  { reads, writes }: Connections,
  answers: Answers,
  passagesOf: Passages,
  scrubber: Scrubber,
  ensureRoom: Room,
): Transfer {
  const erase = createErase(writes, answers, scrubber);
  const take = createTake(writes, passagesOf);
  const page = reads.prepare<StoredMemory, [number, string, number]>(
    `SELECT ${columns} FROM ${joined} WHERE m.project_id = +? AND m.id > +?
     ORDER BY m.id LIMIT +?`,
  );
  return {
    async deleteAllMemories(write) {
      const { projectId, userId } = write;
      const effect = async (turn: Turn) => ({ outcome: await erase(projectId, userId, turn) });
      try {
        return await answers.answerOnce(write, effect, 'large');
      } finally {
        // Also of an answer that says that the outcome is unknown, and of its replay.
        scrubber.wake();
      }
    },
    importMemories: (write) =>
      answers.answerOnce(write, async (turn) => {
        const { projectId, memories } = write;
        ensureRoom(projectId, memories.filter(({ status }) => status === 'processing').length);
        const outcome = await mapInTurns(memories, (memory) => take(write, memory), turn);
        return { outcome };
      }),
    exportMemories: async ({ projectId, after, limit }) => page.all(projectId, after ?? '', limit),
  };
}

/** A hundred at a time, so that others have their turns. */
function createErase(db: Database, { cutAnswersOfUser }: Answers, scrubber: Scrubber) {
  const seqs = firstOfUser('seq');
  const jobs = db.prepare(`DELETE FROM jobs WHERE project_id = ?1 AND memory_seq IN (${seqs})`);
  const passages = db.prepare(
    `DELETE FROM passages WHERE project_id = ?1 AND user_id = ?2 AND memory_seq IN (${seqs})`,
  );
  const memories = db.prepare(`DELETE FROM memories WHERE seq IN (${seqs})`);
  return async (projectId: number, userId: string, turn: Turn): Promise<number> => {
    // Of memories that were deleted one by one before, text may be left as well.
    scrubber.note();
    for (let erased = 0; ; ) {
      cutAnswersOfUser(projectId, userId);
      jobs.run(projectId, userId);
      passages.run(projectId, userId);
      const { changes } = memories.run(projectId, userId);
      if (changes === 0) return erased;
      erased += changes;
      await turn();
    }
  };
}

function createTake(db: Database, passagesOf: Passages) {
  const known = db.prepare('SELECT 1 FROM memories WHERE project_id = ? AND id = ?');
  const origin = db.prepare(
    `SELECT 1 FROM memories WHERE project_id = ? AND user_id = ? AND ifnull(source, '') = ?
     AND external_id = ?`,
  );
  const insert = prepareInsert(db);
  const job = db.prepare(
    `INSERT INTO jobs
     (project_id, memory_seq, state, accepted_at, run_at, updated_at)
     VALUES (?1, ?2, ?3, ?4, iif(?3 = 'waiting', ?4, NULL), ?5)`,
  );
  return (
    { projectId, at }: { projectId: number; at: number },
    memory: ImportedMemory,
  ): ImportOutcome => {
    const { id, userId, source, externalId, status, createdAt, updatedAt } = memory;
    if (known.get(projectId, id) !== null) return 'skipped';
    const taken =
      externalId !== null && origin.get(projectId, userId, source ?? '', externalId) !== null;
    if (taken) return 'taken';
    const seq = insert(projectId, memory, createdAt, updatedAt);
    passagesOf.insert({ projectId, userId, seq }, 0, memory.passages);
    if (status !== 'complete') {
      job.run(projectId, seq, status === 'failed' ? 'failed' : 'waiting', at, updatedAt);
    }
    return 'imported';
  };
}
