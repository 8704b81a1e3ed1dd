import type { Database } from 'bun:sqlite';
import { noSuchMemory } from '../../errors.ts';
import type { NewMemory, Passage, Position, Storage, StoredMemory } from '../storage.ts';
import type { Answers } from './answers.ts';
import type { Passages } from './passages.ts';

type MemoryOperations = Pick<
  Storage,
  'saveMemory' | 'updateMemory' | 'deleteMemory' | 'getMemory' | 'listMemories'
>;

/** A memory's status is its job's; one that was saved has none. */
export const statusColumn = `CASE ifnull(j.state, 'complete')
  WHEN 'waiting' THEN 'processing' WHEN 'running' THEN 'processing'
  WHEN 'failed' THEN 'failed' ELSE 'complete' END AS status`;

/** A memory's columns under the names of StoredMemory. */
const columns = `m.id, m.user_id AS userId, m.type, m.content, m.metadata, m.source,
  m.external_id AS externalId, m.created_at AS createdAt,
  ifnull(j.updated_at, m.updated_at) AS updatedAt,
  ${statusColumn}`;

const joined = `memories AS m
  LEFT JOIN jobs AS j ON j.project_id = m.project_id AND j.memory_seq = m.seq`;

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
  const update = db.prepare(
    `UPDATE memories SET content = ?, metadata = ifnull(?, metadata), updated_at = ?
     WHERE project_id = ? AND seq = ?`,
  );
  const settleJob = db.prepare(
    `UPDATE jobs SET state = 'complete', error_message = NULL, lease_token = lease_token + 1,
       chunks_complete = ?1, chunks_total = ?1, updated_at = ?2
     WHERE project_id = ?3 AND memory_seq = ?4`,
  );
  const removeJob = db.prepare('DELETE FROM jobs WHERE project_id = ? AND memory_seq = ?');
  const remove = db.prepare('DELETE FROM memories WHERE project_id = ? AND seq = ?');
  const pages = {
    desc: preparePages(db, 'DESC', '<'),
    asc: preparePages(db, 'ASC', '>'),
  };

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
        const { projectId, at, id, content, metadata, passages } = write;
        const of = owner(projectId, id);
        update.run(content, metadata, at, projectId, of.seq);
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

    async listMemories({ projectId, userId, order, after, limit }) {
      const page = pages[order];
      if (after === null) return page.first.all(projectId, userId, limit);
      return page.next.all(projectId, userId, after.createdAt, after.id, limit);
    },
  };
}

/** Both a save and an ingest add a memory. */
export const insertMemory = `INSERT INTO memories
  (project_id, id, user_id, type, metadata, source, external_id, created_at, updated_at, content)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING seq`;

export function insertValues(projectId: number, memory: NewMemory, at: number) {
  const { id, userId, type, metadata, source, externalId, content } = memory;
  return [projectId, id, userId, type, metadata, source, externalId, at, at, content];
}

function preparePages(db: Database, direction: 'ASC' | 'DESC', beyond: '<' | '>') {
  const order = `ORDER BY m.created_at ${direction}, m.id ${direction} LIMIT ?`;
  const range = `SELECT ${columns} FROM ${joined} WHERE m.project_id = ? AND m.user_id = ?`;
  type Where = [number, string];
  return {
    first: db.prepare<StoredMemory, [...Where, number]>(`${range} ${order}`),
    next: db.prepare<StoredMemory, [...Where, Position['createdAt'], Position['id'], number]>(
      `${range} AND (m.created_at, m.id) ${beyond} (?, ?) ${order}`,
    ),
  };
}
