import { noSuchMemory } from '../../errors.ts';
import type { Storage, StoredMemory } from '../storage.ts';
import type { Answers } from './answers.ts';
import { createList } from './list.ts';
import type { Owner, Passages } from './passages.ts';
import { columns, joined, prepareInsert } from './row.ts';
import type { Connections } from './settings.ts';

type MemoryOperations = Pick<
  Storage,
  'saveMemory' | 'updateMemory' | 'deleteMemory' | 'getMemory' | 'listMemories'
>;

export function createMemories(
  { reads, writes }: Connections,
  { answerOnce, cutAnswers }: Answers,
  passagesOf: Passages,
  version: () => number,
): MemoryOperations {
  const find = `SELECT ${columns} FROM ${joined} WHERE m.project_id = +? AND m.id = +?`;
  const read = reads.prepare<StoredMemory, [number, string]>(find);
  const readBack = writes.prepare<StoredMemory, [number, string]>(find);
  const insert = prepareInsert(writes);
  const locate = writes.prepare<{ seq: number; userId: string }, [number, string]>(
    'SELECT seq, user_id AS userId FROM memories WHERE project_id = ? AND id = ?',
  );
  const update = writes.prepare<{ metadata: string }, (string | number | null)[]>(
    `UPDATE memories SET content = ?, metadata = ifnull(?, metadata), updated_at = ?
     WHERE project_id = ? AND seq = ? RETURNING metadata`,
  );
  const settleJob = writes.prepare(
    `UPDATE jobs SET state = 'complete', run_at = NULL, error_message = NULL, lease_token = lease_token + 1,
       chunks_complete = ?1, chunks_total = ?1, updated_at = ?2
     WHERE project_id = ?3 AND memory_seq = ?4`,
  );
  const removeJob = writes.prepare('DELETE FROM jobs WHERE project_id = ? AND memory_seq = ?');
  const remove = writes.prepare('DELETE FROM memories WHERE project_id = ? AND seq = ?');
  const get = (projectId: number, id: string) => read.get(projectId, id);
  const listMemories = createList(reads, { get, version });

  function found(projectId: number, id: string): StoredMemory {
    const memory = readBack.get(projectId, id);
    if (memory === null) throw noSuchMemory();
    return memory;
  }

  /** Where the memory is stored, or `not_found`. */
  function located(projectId: number, id: string): Owner {
    const row = locate.get(projectId, id);
    if (row === null) throw noSuchMemory();
    return { projectId, ...row };
  }

  return {
    saveMemory: (write) =>
      answerOnce(write, () => {
        const { projectId, at, memory } = write;
        const { passages, ...stored } = memory;
        const seq = insert(projectId, memory, at);
        passagesOf.insert({ projectId, userId: memory.userId, seq }, 0, passages);
        const outcome = { ...stored, status: 'complete' as const, createdAt: at, updatedAt: at };
        return { outcome, textOf: memory.id };
      }),

    updateMemory: (write) =>
      answerOnce(write, () => {
        const { projectId, at, id, content, metadata } = write;
        const of = located(projectId, id);
        const updated = update.get(content, metadata, at, projectId, of.seq);
        const passages = write.index(updated?.metadata ?? '{}');
        passagesOf.remove(of);
        passagesOf.insert(of, 0, passages);
        settleJob.run(passages.length, at, projectId, of.seq);
        return { outcome: found(projectId, id), textOf: id };
      }),

    deleteMemory: (write) =>
      answerOnce(write, () => {
        const { projectId, id } = write;
        const of = located(projectId, id);
        passagesOf.remove(of);
        removeJob.run(projectId, of.seq);
        remove.run(projectId, of.seq);
        cutAnswers(projectId, id);
        return { outcome: undefined };
      }),

    getMemory: async (projectId, id) => get(projectId, id),

    listMemories,
  };
}
