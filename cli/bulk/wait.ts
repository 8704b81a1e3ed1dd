import { setTimeout } from 'node:timers/promises';
import type {
  Accepted,
  IngestStatus,
  MemoryClient,
  MemoryServiceError,
  Replayable,
} from '../../sdk/index.ts';
import { rejectDeletedReplay } from '../client/service-errors.ts';
import { exitCodes } from '../errors.ts';
import { printJson, printJsonLine, printLine, resilientOutput, rowOf } from '../terminal/output.ts';
import { hint, note, type Terminal } from '../terminal/terminal.ts';
import { memoriesOf } from '../terminal/text.ts';
import {
  addCounts,
  type BulkOptions,
  type Counts,
  maxShown,
  notWaited,
  type Report,
  type Waited,
} from './report.ts';

/** The result of the wait for one memory. `error` is null if the memory is complete. */
type Outcome = {
  memoryId: string;
  status: IngestStatus | null;
  error: MemoryServiceError | null;
  exitCode: number;
};

const firstPauseMs = 100;
const maxPauseMs = 2_000;
const idsPerRequest = 1_000;
const unavailablePauseMs = 1_000;
/** How long after the deadline a response may still arrive. */
const graceMs = 2_000;

/**
 * Waits until the memories are processed or their common deadline passes. Reports each memory when
 * its processing ends. Rate limits and restarts of the service do not end the wait. Returns the
 * exit code.
 */
export async function waitForAll(
  term: Terminal,
  client: MemoryClient,
  memoryIds: string[],
  timeoutMs: number,
  onOutcome: (outcome: Outcome) => Promise<void>,
): Promise<number> {
  const sdk = await import('../../sdk/index.ts');
  const transient = [sdk.AbortError, sdk.RateLimitError, sdk.ServerError, sdk.TimeoutError];
  const until = term.now() + timeoutMs;
  const signal = AbortSignal.any([term.interrupted, AbortSignal.timeout(timeoutMs + graceMs)]);
  const pending = new Map<string, IngestStatus | null>(memoryIds.map((id) => [id, null]));
  const codes = new Set<number>();
  let wasReached = false;

  async function finish(outcome: Outcome): Promise<void> {
    pending.delete(outcome.memoryId);
    codes.add(outcome.exitCode);
    await onOutcome(outcome);
  }

  async function take(status: IngestStatus): Promise<void> {
    const { memoryId } = status;
    if (status.status === 'processing') return void pending.set(memoryId, status);
    const isComplete = status.status === 'complete';
    const error = isComplete ? null : new sdk.IngestFailedError(status, {});
    const exitCode = isComplete ? exitCodes.done : exitCodes.failed;
    await finish({ memoryId, status, error, exitCode });
  }

  /**
   * Reads the oldest memories first and stops after a request whose memories are all pending. The
   * queue is processed in order, so later memories are pending as well. The last read never stops
   * early.
   */
  async function readStatuses(isLast: boolean): Promise<void> {
    const ids = [...pending.keys()];
    for (let at = 0; at < ids.length; at += idsPerRequest) {
      const some = ids.slice(at, at + idsPerRequest);
      const { items, notFound } = await client.statusMany(some, { signal });
      wasReached = true;
      for (const status of items) await take(status);
      for (const memoryId of notFound) {
        const error = new sdk.NotFoundError('no memory has this id', { code: 'not_found' });
        await finish({ memoryId, status: null, error, exitCode: exitCodes.notFound });
      }
      if (some.every((id) => pending.has(id)) && !isLast) return;
    }
  }

  /** Returns the pause before the next attempt. Throws an error that a retry would not fix. */
  function pauseAfter(error: unknown): number {
    term.interrupted.throwIfAborted();
    const isAway = wasReached && error instanceof sdk.ConnectionError;
    if (!isAway && !transient.some((one) => error instanceof one)) throw error;
    return (error as MemoryServiceError).retryAfterMs ?? unavailablePauseMs;
  }

  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 1.5, maxPauseMs)) {
    const isLast = term.now() >= until;
    const minPauseMs = (await readStatuses(isLast).catch(pauseAfter)) ?? 0;
    if (pending.size === 0 || isLast) break;
    const nextMs = Math.min(Math.max(pauseMs, minPauseMs), until - term.now());
    await setTimeout(Math.max(0, nextMs), undefined, { signal: term.interrupted });
  }
  for (const [memoryId, status] of pending) {
    const error = new sdk.WaitTimeoutError(memoryId, timeoutMs, status ?? undefined);
    await finish({ memoryId, status, error, exitCode: exitCodes.processing });
  }
  const worst = [exitCodes.failed, exitCodes.notFound, exitCodes.processing];
  return worst.find((code) => codes.has(code)) ?? exitCodes.done;
}

export async function printOutcome(term: Terminal, json: true | undefined, outcome: Outcome) {
  const { memoryId, exitCode, status, error } = outcome;
  const isGone = exitCode === exitCodes.notFound;
  if (json) {
    const gone = { memoryId, error: { code: error?.code, message: error?.message } };
    return printJsonLine(term, isGone ? gone : (status ?? { memoryId, status: 'processing' }));
  }
  const word = isGone ? 'not found' : (status?.status ?? 'processing');
  const cells = [memoryId, word, status?.errorMessage ?? ''].filter(Boolean);
  await term.stdout.write(`${rowOf(term, cells)}\n`);
}

/** If the user interrupts the wait, prints a hint that the records were accepted. */
function hintIfInterrupted(term: Terminal, wait: Promise<number>, text: string): Promise<number> {
  return wait.catch(async (error) => {
    if (term.interrupted.aborted) await hint(term, text);
    throw error;
  });
}

/** The names in the summary for the exit codes of a wait. */
const waitedNames: Record<number, string> = {
  [exitCodes.done]: 'complete',
  [exitCodes.processing]: 'stillProcessing',
  [exitCodes.failed]: 'processingFailed',
  [exitCodes.notFound]: 'notFound',
};

/** With --wait, waits for every memory of a bulk command and reports those that do not complete. */
export async function waitAndCount(
  term: Terminal,
  client: MemoryClient | undefined,
  report: Report,
  { wait, timeout }: BulkOptions,
  what: 'record' | 'document',
): Promise<Waited> {
  if (!wait || client === undefined) return notWaited;
  const counts: Counts = { complete: 0, stillProcessing: 0, processingFailed: 0 };
  const pending: string[] = [];
  let incomplete = 0;
  const waiting = waitForAll(term, client, [...report.memoryIds], timeout, async (outcome) => {
    const { memoryId, exitCode, error } = outcome;
    addCounts(counts, { [waitedNames[exitCode] ?? '']: 1 });
    if (exitCode === exitCodes.processing) pending.push(memoryId);
    else if (error !== null && ++incomplete <= maxShown) {
      // The message of a not-found error does not name the id.
      const id = exitCode === exitCodes.notFound ? `${memoryId}: ` : '';
      await note(term, id + error.message);
    }
  });
  const accepted = `Accepted ${report.done()} ${what}${report.done() === 1 ? '' : 's'}`;
  const interrupted = `${accepted}, which will be processed. Only the wait was interrupted.`;
  const exitCode = await hintIfInterrupted(term, waiting, interrupted);
  if (incomplete > maxShown) await note(term, `and ${incomplete - maxShown} more`);
  if (pending.length > 0) {
    const still = `Still processing: ${memoriesOf(pending.length)}. Nothing is lost.`;
    await hint(term, `${still} ${howToContinue(pending)}`);
  }
  return { counts, exitCode };
}

/** Does not suggest sending the records again, because that could process them again. */
function howToContinue(pending: string[]): string {
  return pending.length > maxShown
    ? 'Use --timeout to wait longer.'
    : `Continue waiting: memory wait ${pending.join(' ')}`;
}

/** Prints the id of a queued record and the next command; with --wait, the result. */
export async function reportIngest(
  term: Terminal,
  client: MemoryClient,
  accepted: Replayable<Accepted>,
  { json, wait, timeout }: BulkOptions,
): Promise<void> {
  const { memoryId, status } = accepted;
  rejectDeletedReplay(accepted, memoryId);
  const queued =
    status === 'complete'
      ? `Unchanged. To show the memory: memory get ${memoryId}`
      : `Queued. To wait for the result: memory wait ${memoryId}`;
  const out = resilientOutput(term);
  if (!json) await printLine(out.term, memoryId);
  else if (!wait) await printJson(out.term, accepted);
  if (out.hasFailed() || !(json || wait)) await hint(term, queued);
  if (!wait) return out.end();
  const report = async (outcome: Outcome) => {
    if (json) return printOutcome(out.term, json, outcome);
    if (outcome.error !== null) throw outcome.error;
    if (outcome.exitCode === exitCodes.done) await note(term, 'Complete.');
  };
  const waiting = waitForAll(term, client, [memoryId], timeout, report);
  out.end(await hintIfInterrupted(term, waiting, queued));
}
