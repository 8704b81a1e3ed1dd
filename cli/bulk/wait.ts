import { setTimeout } from 'node:timers/promises';
import type { Accepted, IngestStatus, MemoryClient, Replayable } from '../../sdk/index.ts';
import { rejectDeletedReplay } from '../client/service-errors.ts';
import { exitCodes } from '../errors.ts';
import { printJson, printJsonLine, printLine, resilientOutput, rowOf } from '../terminal/output.ts';
import { note, type Terminal } from '../terminal/terminal.ts';
import { memoriesOf } from '../terminal/text.ts';
import { addCounts, type Counts, type IngestOptions, maxShown, type Report } from './report.ts';

export type Outcome = { memoryId: string; end: End; status: IngestStatus | null };
type End = 'complete' | 'processing' | 'failed' | 'not found';

const firstPauseMs = 100;
const maxPauseMs = 2_000;
const idsPerRequest = 1_000;
const unavailablePauseMs = 1_000;
/** How long after the deadline a response may still arrive. */
const graceMs = 2_000;

/**
 * Waits until the memories are processed or their common deadline passes. Reports each memory when
 * its processing ends, and says how to continue the wait. Rate limits and restarts of the service
 * do not end the wait. Returns the exit code.
 */
export async function waitForAll(
  term: Terminal,
  client: MemoryClient,
  memoryIds: string[],
  timeoutMs: number,
  onOutcome: (outcome: Outcome) => Promise<void>,
): Promise<number> {
  const { MemoryServiceError } = await import('../../sdk/index.ts');
  const until = term.clock() + timeoutMs;
  const deadline = AbortSignal.timeout(timeoutMs + graceMs);
  const signal = AbortSignal.any([term.interrupted, deadline]);
  const pending = new Map<string, IngestStatus | null>(memoryIds.map((id) => [id, null]));
  const ends = new Set<End>();
  let wasReached = false;

  async function finish(memoryId: string, end: End, status: IngestStatus | null): Promise<void> {
    pending.delete(memoryId);
    ends.add(end);
    await onOutcome({ memoryId, end, status });
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
      for (const one of items) {
        if (one.status === 'processing') pending.set(one.memoryId, one);
        else await finish(one.memoryId, one.status, one);
      }
      for (const memoryId of notFound) await finish(memoryId, 'not found', null);
      if (some.every((id) => pending.has(id)) && !isLast) return;
    }
  }

  /** Returns the pause before the next attempt. Throws an error that a retry would not fix. */
  function pauseAfter(error: unknown): number {
    term.interrupted.throwIfAborted();
    if (!(error instanceof MemoryServiceError)) throw error;
    const { status = 0, retryAfterMs = unavailablePauseMs } = error;
    const isAway = status === 0 && (wasReached || deadline.aborted);
    if (isAway || status === 429 || status >= 500) return retryAfterMs;
    throw error;
  }

  try {
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 1.5, maxPauseMs)) {
      const isLast = term.clock() >= until;
      const minPauseMs = (await readStatuses(isLast).catch(pauseAfter)) ?? 0;
      if (pending.size === 0 || isLast) break;
      const nextMs = Math.min(Math.max(pauseMs, minPauseMs), until - term.clock());
      await setTimeout(Math.max(0, nextMs), undefined, { signal: term.interrupted });
    }
  } catch (error) {
    if (term.interrupted.aborted) await notePending(term, [...pending.keys()]);
    throw error;
  }
  for (const [memoryId, status] of pending) {
    ends.add('processing');
    await onOutcome({ memoryId, end: 'processing', status });
  }
  await notePending(term, [...pending.keys()]);
  return exitCodeOf(ends);
}

async function notePending(term: Terminal, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  const command = `Continue waiting: memory wait ${ids.join(' ')}`;
  const more = ids.length > maxShown ? 'To list them: memory tasks' : command;
  await note(term, `Still processing: ${memoriesOf(ids.length)}. Nothing is lost. ${more}`);
}

function exitCodeOf(ends: Set<End>): number {
  if (ends.has('failed')) return exitCodes.failed;
  if (ends.has('not found')) return exitCodes.notFound;
  return ends.has('processing') ? exitCodes.processing : exitCodes.done;
}

export async function printOutcome(term: Terminal, outcome: Outcome): Promise<void> {
  const { memoryId, end, status } = outcome;
  if (!term.options.json) {
    const cells = [memoryId, end, status?.errorMessage ?? ''].filter(Boolean);
    return term.stdout.write(`${rowOf(term, cells)}\n`);
  }
  const missing = { memoryId, error: { code: 'not_found', message: 'no memory has this id' } };
  const shown = end === 'not found' ? missing : (status ?? { memoryId, status: 'processing' });
  await printJsonLine(term, shown);
}

/** Prints the summary of a bulk command. With --wait, first waits for all of its memories. */
export async function finishBulk(
  term: Terminal,
  client: MemoryClient | undefined,
  report: Report,
  { wait, timeout }: IngestOptions,
): Promise<void> {
  if (!wait || client === undefined) return report.finish();
  const counts: Counts = { complete: 0, stillProcessing: 0, processingFailed: 0 };
  const names = { complete: 'complete', processing: 'stillProcessing', failed: 'processingFailed' };
  let incomplete = 0;
  const ids = [...report.memoryIds];
  const exitCode = await waitForAll(term, client, ids, timeout, async (outcome) => {
    const { memoryId, end, status } = outcome;
    addCounts(counts, { [end === 'not found' ? 'notFound' : names[end]]: 1 });
    if (end === 'processing' || end === 'complete') return;
    incomplete += 1;
    if (incomplete <= maxShown) await note(term, `${memoryId}: ${status?.errorMessage ?? end}`);
  });
  if (incomplete > maxShown) await note(term, `and ${incomplete - maxShown} more`);
  await report.finish(counts, exitCode);
}

/** Prints the id of a queued record and the next command; with --wait, the result. */
export async function reportIngest(
  term: Terminal,
  client: MemoryClient,
  accepted: Replayable<Accepted>,
  { wait, timeout }: IngestOptions,
): Promise<void> {
  const { json } = term.options;
  const { memoryId, status } = accepted;
  rejectDeletedReplay(accepted, memoryId);
  const queued =
    status === 'complete'
      ? `Unchanged. To show the memory: memory get ${memoryId}`
      : `Queued. To wait for the result: memory wait ${memoryId}`;
  const out = resilientOutput(term);
  if (!json) await printLine(out.term, memoryId);
  else if (!wait) await printJson(out.term, accepted);
  if (out.hasFailed() || !(json || wait)) await note(term, queued);
  if (!wait) return out.end();
  const exitCode = await waitForAll(term, client, [memoryId], timeout, async (outcome) => {
    if (json) return printOutcome(out.term, outcome);
    const { end, status: last } = outcome;
    if (end === 'complete') await note(term, 'Complete.');
    else if (end !== 'processing') await note(term, `Failed: ${last?.errorMessage ?? end}`);
  });
  out.end(exitCode);
}
