import type { MemoryClient } from '../../sdk/index.ts';
import { exitCodes } from '../errors.ts';
import { note, type Terminal } from '../terminal/terminal.ts';
import { type Counts, maxShown } from './report.ts';
import { hintIfInterrupted, waitForAll } from './wait.ts';

type WaitOptions = {
  wait?: true | undefined;
  timeout: number;
  /** The accepted and failed items, reported if the user interrupts the wait. */
  accepted: { what: 'record' | 'document'; count: number; failed: number };
};

/** With --wait, waits for every memory of a bulk command and reports those that do not complete. */
export async function waitAndCount(
  term: Terminal,
  client: MemoryClient,
  awaited: string[],
  { wait, timeout, accepted }: WaitOptions,
): Promise<{ waited: Counts; exitCode: number }> {
  if (!wait) return { waited: {}, exitCode: exitCodes.done };
  const counts = new Map<number, number>();
  let incomplete = 0;
  const waiting = waitForAll(term, client, awaited, timeout, async (outcome) => {
    const { memoryId, exitCode, error } = outcome;
    counts.set(exitCode, (counts.get(exitCode) ?? 0) + 1);
    if (error === null || ++incomplete > maxShown) return;
    // The message of a not-found error does not name the id.
    const id = exitCode === exitCodes.notFound ? `${memoryId}: ` : '';
    await note(term, id + error.message);
  });
  const exitCode = await hintIfInterrupted(term, waiting, acceptedAll(accepted));
  if (incomplete > maxShown) await note(term, `and ${incomplete - maxShown} more`);
  const notFound = counts.get(exitCodes.notFound);
  const waited = {
    complete: counts.get(exitCodes.done) ?? 0,
    stillProcessing: counts.get(exitCodes.processing) ?? 0,
    processingFailed: counts.get(exitCodes.failed) ?? 0,
    ...(notFound !== undefined && { notFound }),
  };
  return { waited, exitCode };
}

function acceptedAll({ what, count, failed }: WaitOptions['accepted']): string {
  const those = count === 1 ? `1 ${what} was` : `${count} ${what}s were`;
  const all = failed === 0 && count > 1 ? `All ${those}` : those;
  return `${all} accepted and will be processed; only the wait was interrupted.`;
}
