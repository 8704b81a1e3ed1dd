import type { Database } from 'bun:sqlite';
import { mapInTurns } from '../../turns.ts';
import type { NewMemory, Storage } from '../storage.ts';
import type { Answers } from './answers.ts';
import type { Passages } from './passages.ts';
import type { Room } from './room.ts';
import { prepareInsert } from './row.ts';

type Known = { seq: number; id: string };

/** Accepting records: memory and job, new or taken over, in one transaction. */
export function createRecords(
  db: Database,
  { answerOnce }: Answers,
  passagesOf: Passages,
  ensureRoom: Room,
): Pick<Storage, 'acceptRecords'> {
  const findOrigin = db.prepare<Known, [number, string, string, string]>(
    `SELECT seq, id FROM memories WHERE project_id = ? AND user_id = ?
     AND ifnull(source, '') = ? AND external_id = ?`,
  );
  const insert = prepareInsert(db);
  const takeOver = db.prepare(
    `UPDATE memories SET type = ?, content = ?, metadata = ?, updated_at = ?
     WHERE project_id = ? AND seq = ?`,
  );
  const queue = db.prepare(
    `INSERT INTO jobs (project_id, memory_seq, state, accepted_at, run_at, updated_at)
     VALUES (?1, ?2, 'waiting', ?3, ?3, ?3)
     ON CONFLICT (project_id, memory_seq) DO UPDATE SET
       state = 'waiting', accepted_at = ?3, run_at = ?3, updated_at = ?3, attempts = 0,
       lease_token = lease_token + 1, chunks_complete = 0, chunks_total = 0, error_message = NULL`,
  );

  function accept(projectId: number, record: NewMemory, at: number): string {
    const { userId, source, externalId } = record;
    const known =
      externalId === null ? null : findOrigin.get(projectId, userId, source ?? '', externalId);
    if (known === null) {
      queue.run(projectId, insert(projectId, record, at), at);
      return record.id;
    }
    const { type, content, metadata } = record;
    takeOver.run(type, content, metadata, at, projectId, known.seq);
    // They cut the older text.
    passagesOf.remove({ projectId, userId, seq: known.seq });
    queue.run(projectId, known.seq, at);
    return known.id;
  }

  return {
    acceptRecords: (write) =>
      answerOnce(write, async (turn) => {
        const { projectId, at, records } = write;
        ensureRoom(projectId, records.length);
        const outcome = await mapInTurns(records, (record) => accept(projectId, record, at), turn);
        return { outcome };
      }),
  };
}
