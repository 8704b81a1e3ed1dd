import type { MemoryClient } from '../../sdk/index.ts';
import { exitCodes } from '../errors.ts';
import { definedOnly } from '../options.ts';
import { hint, note, type Terminal } from '../terminal/terminal.ts';
import { whyIncomplete } from './outcome.ts';
import { type Counts, maxShown } from './report.ts';
import { waitForAll } from './wait.ts';

type WaitOptions = {
  wait?: true | undefined;
  timeout: number;
  /** How many were accepted, for a person who ends the wait. */
  accepted: { what: 'record' | 'document'; count: number; failed: number };
};

/** With --wait, waits for all of a bulk command and says why some are not complete. */
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
    counts.set(outcome.exitCode, (counts.get(outcome.exitCode) ?? 0) + 1);
    const why = whyIncomplete(outcome);
    if (why === null) return;
    incomplete += 1;
    if (incomplete <= maxShown) await note(term, why);
  });
  const exitCode = await hintIfInterrupted(term, waiting, acceptedAll(accepted));
  if (incomplete > maxShown) await note(term, `and ${incomplete - maxShown} more`);
  const { done, processing, failed, notFound, notAsked } = exitCodes;
  const waited = {
    complete: counts.get(done) ?? 0,
    stillProcessing: counts.get(processing) ?? 0,
    processingFailed: counts.get(failed) ?? 0,
    ...definedOnly({ notFound: counts.get(notFound), notAsked: counts.get(notAsked) }),
  };
  return { waited, exitCode };
}

function acceptedAll({ what, count, failed }: WaitOptions['accepted']): string {
  const those = count === 1 ? `1 ${what} is` : `${count} ${what}s are`;
  const all = failed === 0 && count > 1 ? `All ${those}` : those;
  return `${all} accepted and will be processed; only the waiting has ended.`;
}

/** After an interruption, says what happens to what was accepted. */
export async function hintIfInterrupted<Result>(
  term: Terminal,
  wait: Promise<Result>,
  text: string,
): Promise<Result> {
  try {
    return await wait;
  } catch (error) {
    if (term.interrupted.aborted) await hint(term, text);
    throw error;
  }
}
