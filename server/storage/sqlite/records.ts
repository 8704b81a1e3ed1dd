import type { Database } from 'bun:sqlite';
import { limits } from '../../../sdk/contract/limits.ts';
import { ServiceError } from '../../errors.ts';
import type { NewMemory, Storage } from '../storage.ts';
import type { Answers } from './answers.ts';
import type { Passages } from './passages.ts';
import { insertMemory, insertValues } from './row.ts';

type Known = { seq: number; id: string };

/** How long until a full queue is worth another try. */
const retryAfterSeconds = 10;

/** Accepting records: memory and job, new or taken over, in one transaction. */
export function createRecords(
  db: Database,
  { answerOnce }: Answers,
  passagesOf: Passages,
): Pick<Storage, 'acceptRecords'> {
  const findOrigin = db.prepare<Known, [number, string, string, string]>(
    `SELECT seq, id FROM memories WHERE project_id = ? AND user_id = ?
     AND ifnull(source, '') = ? AND external_id = ?`,
  );
  const insert = db.prepare<{ seq: number }, (string | number | null)[]>(insertMemory);
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
  const ensureRoom = createRoom(db);

  function accept(projectId: number, record: NewMemory, at: number): string {
    const { userId, source, externalId } = record;
    const known =
      externalId === null ? null : findOrigin.get(projectId, userId, source ?? '', externalId);
    if (known === null) {
      const row = insert.get(...insertValues(projectId, record, at));
      queue.run(projectId, row?.seq ?? 0, at);
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
      answerOnce(write, () => {
        const { projectId, at, records } = write;
        ensureRoom(projectId, records.length);
        return { outcome: records.map((record) => accept(projectId, record, at)) };
      }),
  };
}

/**
 * Refuses records over the limit on what waits. Counting for each request would cost more the
 * longer the queue is; between two counts what was accepted since is an upper bound.
 */
function createRoom(db: Database): (projectId: number, wanted: number) => void {
  const count = db.prepare<{ n: number }, [number]>(
    `SELECT count(*) AS n FROM jobs WHERE project_id = ? AND state IN ('waiting', 'running')`,
  );
  const left = new Map<number, number>();
  return (projectId, wanted) => {
    let room = left.get(projectId) ?? 0;
    if (room < wanted) room = limits.pendingRecords - (count.get(projectId)?.n ?? 0);
    if (room < wanted) throw queueFull();
    left.set(projectId, room - wanted);
  };
}

function queueFull(): ServiceError {
  return new ServiceError(
    'rate_limited',
    `more than ${limits.pendingRecords} records would wait to be processed; try again later`,
    { retryAfterSeconds },
  );
}
