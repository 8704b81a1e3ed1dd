import type { IngestStatus, MemoryClient, MemoryServiceError } from '../../sdk/index.ts';
import { exitCodes } from '../client/errors.ts';
import { hint, type Terminal } from '../terminal/terminal.ts';

/** How a wait for one memory ended. `error` is null when it is complete, or was not asked. */
export type Outcome = {
  memoryId: string;
  status: IngestStatus | null;
  error: MemoryServiceError | null;
  exitCode: number;
};

/** Why one is not complete. Of one that is gone the service does not name the id. */
export function whyIncomplete({ memoryId, exitCode, error }: Outcome): string | null {
  if (error === null || exitCode !== exitCodes.notFound) return error?.message ?? null;
  return `${memoryId}: ${error.message}`;
}

/** Waits for one memory. Only what is no answer to the question, as a lost connection, throws. */
export async function waitForOne(
  term: Terminal,
  client: MemoryClient,
  memoryId: string,
  timeoutMs: number,
): Promise<Outcome> {
  const { IngestFailedError, NotFoundError, WaitTimeoutError } = await import('../../sdk/index.ts');
  try {
    const wait = { timeoutMs, signal: term.interrupted };
    const status = await client.waitUntilComplete(memoryId, wait);
    return { memoryId, status, error: null, exitCode: exitCodes.done };
  } catch (error) {
    if (error instanceof IngestFailedError) {
      return { memoryId, status: error.ingestStatus, error, exitCode: exitCodes.failed };
    }
    if (error instanceof WaitTimeoutError) {
      const status = error.ingestStatus ?? null;
      return { memoryId, status, error, exitCode: exitCodes.processing };
    }
    if (error instanceof NotFoundError && error.code === 'not_found') {
      return { memoryId, status: null, error, exitCode: exitCodes.notFound };
    }
    throw error;
  }
}

/** Where a person or the system ends the wait, what was accepted is accepted all the same. */
export async function reportInterrupted<Result>(
  term: Terminal,
  wait: Promise<Result>,
  told: string,
): Promise<Result> {
  try {
    return await wait;
  } catch (error) {
    if (term.interrupted.aborted) await hint(term, told);
    throw error;
  }
}

/** What is told then of many: of all of them, where none failed. */
export function acceptedAll(what: 'record' | 'document', count: number, failed: number): string {
  const those = count === 1 ? `1 ${what} is` : `${count} ${what}s are`;
  const all = failed === 0 && count > 1 ? `All ${those}` : those;
  return `${all} accepted and will be processed; only the waiting was ended.`;
}
