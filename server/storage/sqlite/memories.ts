import type { Database } from 'bun:sqlite';
import { noSuchMemory } from '../../errors.ts';
import type { Passage, Storage, StoredMemory } from '../storage.ts';
import type { Answers } from './answers.ts';
import { createList } from './list.ts';
import type { Passages } from './passages.ts';
import { columns, insertMemory, insertValues, joined } from './row.ts';

type MemoryOperations = Pick<
  Storage,
  'saveMemory' | 'updateMemory' | 'deleteMemory' | 'getMemory' | 'listMemories'
>;

export function createMemories(
  db: Database,
  { answerOnce, cutAnswers }: Answers,
  passagesOf: Passages,
): MemoryOperations {
  const find = db.prepare<StoredMemory, [number, string]>(
    `SELECT ${columns} FROM ${joined} WHERE m.project_id = ? AND m.id = ?`,
  );
  const insert = db.prepare<{ seq: number }, (string | number | null)[]>(insertMemory);
  const locate = db.prepare<{ seq: number; userId: string }, [number, string]>(
    'SELECT seq, user_id AS userId FROM memories WHERE project_id = ? AND id = ?',
  );
  const update = db.prepare<{ metadata: string }, (string | number | null)[]>(
    `UPDATE memories SET content = ?, metadata = ifnull(?, metadata), updated_at = ?
     WHERE project_id = ? AND seq = ? RETURNING metadata`,
  );
  const settleJob = db.prepare(
    `UPDATE jobs SET state = 'complete', error_message = NULL, lease_token = lease_token + 1,
       chunks_complete = ?1, chunks_total = ?1, updated_at = ?2
     WHERE project_id = ?3 AND memory_seq = ?4`,
  );
  const removeJob = db.prepare('DELETE FROM jobs WHERE project_id = ? AND memory_seq = ?');
  const remove = db.prepare('DELETE FROM memories WHERE project_id = ? AND seq = ?');
  const listMemories = createList(db);

  function found(projectId: number, id: string): StoredMemory {
    const memory = find.get(projectId, id);
    if (memory === null) throw noSuchMemory();
    return memory;
  }

  /** Where the memory is stored, or `not_found`. */
  function owner(projectId: number, id: string) {
    const row = locate.get(projectId, id);
    if (row === null) throw noSuchMemory();
    return { projectId, ...row };
  }

  function replacePassages(of: ReturnType<typeof owner>, passages: Passage[]): void {
    passagesOf.remove(of);
    passagesOf.insert(of, 0, passages);
  }

  return {
    saveMemory: (write) =>
      answerOnce(write, () => {
        const { projectId, at, memory } = write;
        const { passages, ...stored } = memory;
        const row = insert.get(...insertValues(projectId, memory, at));
        const seq = row?.seq ?? 0;
        passagesOf.insert({ projectId, userId: memory.userId, seq }, 0, passages);
        const outcome = { ...stored, status: 'complete' as const, createdAt: at, updatedAt: at };
        return { outcome, textOf: memory.id };
      }),

    updateMemory: (write) =>
      answerOnce(write, () => {
        const { projectId, at, id, content, metadata } = write;
        const of = owner(projectId, id);
        const updated = update.get(content, metadata, at, projectId, of.seq);
        const passages = write.index(updated?.metadata ?? '{}');
        replacePassages(of, passages);
        settleJob.run(passages.length, at, projectId, of.seq);
        return { outcome: found(projectId, id), textOf: id };
      }),

    deleteMemory: (write) =>
      answerOnce(write, () => {
        const { projectId, id } = write;
        const of = owner(projectId, id);
        passagesOf.remove(of);
        removeJob.run(projectId, of.seq);
        remove.run(projectId, of.seq);
        cutAnswers(projectId, id);
        return { outcome: undefined };
      }),

    getMemory: async (projectId, id) => find.get(projectId, id),

    listMemories,
  };
}
