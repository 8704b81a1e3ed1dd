import type { IngestStatus, MemoryClient, MemoryServiceError } from '../sdk/index.ts';
import { exitCodes } from './failure.ts';
import { hint, type Io } from './io.ts';

/** How a wait for one memory ended. `error` is null when it is complete, or was not asked. */
export type Outcome = {
  memoryId: string;
  status: IngestStatus | null;
  error: MemoryServiceError | null;
  exitCode: number;
};

/** Why one is not complete. Of one that is gone the service does not name the id. */
export function whyNot({ memoryId, exitCode, error }: Outcome): string | null {
  if (error === null || exitCode !== exitCodes.notFound) return error?.message ?? null;
  return `${memoryId}: ${error.message}`;
}

/** Waits for one memory. Only what is no answer to the question, as a lost connection, throws. */
export function waitForOne(
  io: Io,
  client: MemoryClient,
  memoryId: string,
  timeoutMs: number,
): Promise<Outcome> {
  return look(io, client, memoryId, { timeoutMs, lookMs: timeoutMs, onHeaders: () => {} });
}

/** Where a person or the system ends the wait, what was accepted is accepted all the same. */
export async function tellInterrupted<Result>(
  io: Io,
  wait: Promise<Result>,
  told: string,
): Promise<Result> {
  try {
    return await wait;
  } catch (error) {
    if (io.interrupted.aborted) await hint(io, told);
    throw error;
  }
}

/** What is told then of many: of all of them, where none failed. */
export function acceptedAll(what: 'record' | 'document', count: number, failed: number): string {
  const those = count === 1 ? `1 ${what} is` : `${count} ${what}s are`;
  const all = failed === 0 && count > 1 ? `All ${those}` : those;
  return `${all} accepted and will be processed; only the waiting was ended.`;
}

/** `lookMs` is what is left of the time that the user gave. */
type Look = { timeoutMs: number; lookMs: number; onHeaders: (headers: Headers) => void };

/** One look of a wait for many: until it is done, or until the time is over. */
export async function look(
  io: Io,
  client: MemoryClient,
  memoryId: string,
  { timeoutMs, lookMs, onHeaders }: Look,
): Promise<Outcome> {
  const { IngestFailedError, NotFoundError, WaitTimeoutError } = await import('../sdk/index.ts');
  try {
    const wait = { timeoutMs: lookMs, signal: io.interrupted };
    const { data, response } = await client.waitUntilComplete(memoryId, wait).withResponse();
    onHeaders(response.headers);
    return { memoryId, status: data, error: null, exitCode: exitCodes.done };
  } catch (error) {
    if (error instanceof IngestFailedError) {
      return { memoryId, status: error.ingestStatus, error, exitCode: exitCodes.failed };
    }
    if (error instanceof WaitTimeoutError) {
      const { ingestStatus, attempts } = error;
      const late = new WaitTimeoutError(memoryId, timeoutMs, ingestStatus, attempts, error.cause);
      const status = ingestStatus ?? null;
      return { memoryId, status, error: late, exitCode: exitCodes.processing };
    }
    if (error instanceof NotFoundError && error.code === 'not_found') {
      return { memoryId, status: null, error, exitCode: exitCodes.notFound };
    }
    throw error;
  }
}
