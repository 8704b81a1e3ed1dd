import type { Database } from 'bun:sqlite';
import { ServiceError } from '../../errors.ts';
import type { Turn } from '../../turns.ts';
import type { Answer, Storage, Write, WriteResult } from '../storage.ts';
import { firstOfUser } from './row.ts';
import type { Effect, Size, Writer } from './writer.ts';

/** What an effect hands back: its outcome, and the memory whose text the answer will hold. */
type Done<Outcome> = { outcome: Outcome; textOf?: string };

export type Answers = {
  /** Runs a client's write once for its key, storing effect and answer in one transaction. */
  answerOnce<T>(write: Write<T>, effect: Effect<Done<T>>, size?: Size): Promise<WriteResult>;
  /** Cuts every stored answer that holds the memory's text down to its ids. */
  cutAnswers(projectId: number, memoryId: string): void;
  /** The same for the first memories of a user. */
  cutAnswersOfUser(projectId: number, userId: string): void;
  sweepAnswers: Storage['sweepAnswers'];
};

/** What is left of an answer that held a deleted memory's text. */
const cutBody = `json_object('id', memory_id, 'memoryId', memory_id, 'deleted', json('true'))`;

export function createAnswers(db: Database, writer: Writer): Answers {
  const find = db.prepare<Answer & { fingerprint: string }, [number, string]>(
    'SELECT fingerprint, status, body FROM answers WHERE project_id = ? AND key = ?',
  );
  const insert = db.prepare(
    `INSERT INTO answers (project_id, key, fingerprint, status, body, memory_id, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const cut = db.prepare(
    `UPDATE answers SET body = ${cutBody} WHERE project_id = ? AND memory_id = ?`,
  );
  const cutOfUser = db.prepare(
    `UPDATE answers SET body = ${cutBody} WHERE project_id = ?1 AND memory_id IN
       (${firstOfUser('id')})`,
  );
  // Rows are added in the order of time, so the oldest are the first by rowid, but for those of a
  // clock that was ahead. They wait for their time, and are not in the way of others.
  const sweep = db.prepare(
    `DELETE FROM answers WHERE created_at < ?
     AND seq IN (SELECT seq FROM answers WHERE created_at <= ? ORDER BY seq LIMIT ?)`,
  );

  function once<T>(write: Write<T>, effect: Effect<Done<T>>, turn: Turn) {
    const { projectId, idempotency } = write;
    const stored = idempotency === null ? null : find.get(projectId, idempotency.key);
    if (stored !== null) {
      if (stored.fingerprint !== idempotency?.fingerprint) throw keyReused();
      return { answer: { status: stored.status, body: stored.body }, replayed: true };
    }
    const done = effect(turn);
    // A promise only where there is something to wait for; see the writer.
    return done instanceof Promise ? done.then((done) => keep(write, done)) : keep(write, done);
  }

  function keep<T>(write: Write<T>, { outcome, textOf }: Done<T>): WriteResult {
    const { projectId, idempotency, at } = write;
    const answer = write.answer(outcome);
    if (idempotency !== null) {
      const { key, fingerprint } = idempotency;
      insert.run(projectId, key, fingerprint, answer.status, answer.body, textOf ?? null, at);
    }
    return { answer, replayed: false };
  }

  return {
    answerOnce: (write, effect, size) => writer.write((turn) => once(write, effect, turn), size),
    cutAnswers: (projectId, memoryId) => cut.run(projectId, memoryId),
    cutAnswersOfUser: (projectId, userId) => cutOfUser.run(projectId, userId),
    sweepAnswers: ({ now, before, limit }) =>
      writer.write(() => sweep.run(before, now, limit).changes),
  };
}

function keyReused(): ServiceError {
  return new ServiceError(
    'idempotency_key_reused',
    'this Idempotency-Key was used before with another request; use a new key for a new request',
  );
}
