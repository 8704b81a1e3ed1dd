import type { Tx } from '../engine.ts';
import { outcomeUnknown, WriteConflict } from '../refusals.ts';
import { type Outcome, rowsOf, type Session, type Statement, statement } from './connection.ts';
import { isPartLost, isRefusal } from './errors.ts';
import { type Call, joinRows } from './many-rows.ts';
import { nextInStep } from './step-order.ts';
import { createTx, isRead } from './tx.ts';

/** A write. It awaits nothing but its transaction. */
export type Work = (tx: Tx) => Promise<unknown>;

/** A write of the transaction has failed after it had changed something. */
export class WorkFailed extends Error {}

const begin = statement('BEGIN ISOLATION LEVEL READ COMMITTED');
/** A write that waits longer than this for a row releases its connection to other writes. */
const beginWrites = [begin, statement(`SET LOCAL lock_timeout = '200ms'`)];
const commit = statement('COMMIT');
const rollback = statement('ROLLBACK');

/**
 * Runs writes in step in one transaction: the statements that they wait for are sent together, then
 * those that they need next, until all writes have ended.
 *
 *   start -> [BEGIN, statements] -> [statements] … -> COMMIT -> outcomes
 *                             \-> a statement or a write that has changed rows fails -> ROLLBACK
 *
 * A write that fails before it has changed anything does not affect the others. If this function
 * throws, nothing was stored, unless the error states that the outcome is unknown.
 */
export async function inTransaction(
  session: Session,
  works: readonly Work[],
  deadlineMs?: number,
): Promise<PromiseSettledResult<unknown>[]> {
  const steps = new Steps(session, works);
  let opening = beginWrites;
  try {
    for (let calls = await steps.next(); calls.length > 0; calls = await steps.next()) {
      const outcomes = await session.settle([...opening, ...calls], deadlineMs);
      if (opening.length > 0) assertBegun(session, outcomes);
      rowsOf(outcomes);
      for (const [index, outcome] of outcomes.slice(opening.length).entries()) {
        calls[index]?.answer(outcome);
      }
      opening = [];
    }
  } catch (error) {
    await session.settle([rollback]).catch(() => {});
    throw error;
  }
  if (opening.length === 0) assertCommitted(await session.settle([commit], deadlineMs));
  return steps.outcomes();
}

/** Runs one write in a transaction of its own. */
export async function runAlone<T>(
  session: Session,
  work: (tx: Tx) => Promise<T>,
  deadlineMs?: number,
): Promise<T> {
  try {
    const [outcome] = await inTransaction(session, [work], deadlineMs);
    if (outcome?.status === 'fulfilled') return outcome.value as T;
    throw outcome?.reason;
  } catch (error) {
    throw error instanceof WorkFailed ? error.cause : error;
  }
}

/** Runs statements in order in one transaction, as one pipeline. */
export async function runInOrder(
  session: Session,
  statements: readonly Statement[],
  deadlineMs?: number,
): Promise<void> {
  const outcomes = await session.settle([begin, ...statements, commit], deadlineMs);
  assertBegun(session, outcomes);
  // After an error, the server rejects the remaining statements, and COMMIT rolls back.
  // mutate-ignore constant: after an error of BEGIN, the next statement fails, too
  rowsOf(outcomes.slice(0, -1));
  assertCommitted(outcomes.slice(-1));
}

/** If BEGIN failed, the server has committed each of the following statements separately. */
function assertBegun(session: Session, [first]: Outcome[]): void {
  if (first === undefined) return;
  const isRefused = 'error' in first ? isRefusal(first.error) : first.command !== 'BEGIN';
  if (!isRefused) return;
  session.end();
  throw outcomeUnknown('error' in first ? first.error : undefined);
}

function assertCommitted([last]: Outcome[]): void {
  if (last !== undefined && 'command' in last && last.command === 'COMMIT') return;
  const error = last !== undefined && 'error' in last ? last.error : undefined;
  if (isRefusal(error) && !isPartLost(error)) throw error;
  throw outcomeUnknown(error);
}

/** `calls` is the number of statements that the write waits for. */
type Member = { calls: number; hasWritten: boolean; outcome: PromiseSettledResult<unknown> | null };

/** The writes of one transaction. */
class Steps {
  readonly #session: Session;
  readonly #members: Member[];
  #waiting: Call[] = [];
  /** The number of writes that have not ended and wait for no statement. */
  #running = 0;

  constructor(session: Session, works: readonly Work[]) {
    this.#session = session;
    this.#members = works.map((work) => this.#start(work));
  }

  /** Returns the next statements, or none if all writes have ended. */
  async next(): Promise<Call[]> {
    await this.#rest();
    for (const { outcome, hasWritten } of this.#members) {
      if (outcome?.status !== 'rejected') continue;
      const { reason } = outcome;
      if (hasWritten || reason instanceof WriteConflict) {
        throw new WorkFailed('a write failed', { cause: reason });
      }
    }
    if (this.#waiting.length === 0) return [];
    const [next, later] = nextInStep(this.#waiting);
    this.#waiting = later;
    return joinRows(next, this.#session);
  }

  outcomes(): PromiseSettledResult<unknown>[] {
    return this.#members.flatMap(({ outcome }) => outcome ?? []);
  }

  #start(work: Work): Member {
    // mutate-ignore boolean: the other writes are repeated
    const member: Member = { calls: 0, hasWritten: false, outcome: null };
    const send = (one: Statement) =>
      new Promise<Outcome>((resolve) => this.#add(member, one, resolve));
    const tx = createTx(send, this.#session.hasCitus);
    this.#running += 1;
    const end = (outcome: PromiseSettledResult<unknown>) => {
      member.outcome = outcome;
      if (member.calls === 0) this.#running -= 1;
    };
    work(tx).then(
      (value) => end({ status: 'fulfilled', value }),
      (reason) => end({ status: 'rejected', reason }),
    );
    return member;
  }

  #add(member: Member, one: Statement, resolve: (outcome: Outcome) => void): void {
    member.hasWritten ||= !isRead(one.text);
    if (member.calls === 0) this.#running -= 1;
    member.calls += 1;
    const answer = (outcome: Outcome) => {
      member.calls -= 1;
      if (member.calls === 0 && member.outcome === null) this.#running += 1;
      resolve(outcome);
    };
    this.#waiting.push({ ...one, answer });
  }

  /**
   * Waits until each write has ended or waits for statements. Writes need only microtasks for this,
   * because they await nothing else.
   */
  async #rest(): Promise<void> {
    for (let ticks = 0; this.#running > 0; ticks += 1) {
      if (ticks < maxTicks) await null;
      else await new Promise(setImmediate);
    }
  }
}

/** Far more microtasks than a write needs between two statements. */
const maxTicks = 1_000;
