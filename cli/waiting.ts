import type { IngestStatus, MemoryClient, MemoryServiceError } from '../sdk/index.ts';
import { exitCodes } from './failure.ts';
import type { Io } from './io.ts';

/** How a wait for one memory ended. `error` is null only when the memory is complete. */
export type Outcome = {
  memoryId: string;
  status: IngestStatus | null;
  error: MemoryServiceError | null;
  exitCode: number;
};

const atOnce = 8;

/** Waits for one memory. Only what is no answer to the question, as a lost connection, throws. */
export async function waitForOne(
  io: Io,
  client: MemoryClient,
  memoryId: string,
  timeoutMs: number,
): Promise<Outcome> {
  const { IngestFailedError, NotFoundError, WaitTimeoutError } = await import('../sdk/index.ts');
  try {
    const wait = { timeoutMs, signal: io.interrupted };
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
    if (error instanceof NotFoundError) {
      return { memoryId, status: null, error, exitCode: exitCodes.notFound };
    }
    throw error;
  }
}

/** Waits for many within one deadline, a few at a time, and tells of each as it ends. */
export async function waitForAll(
  io: Io,
  client: MemoryClient,
  memoryIds: Iterable<string>,
  timeoutMs: number,
  onOutcome: (outcome: Outcome) => Promise<void>,
): Promise<number> {
  const until = io.now() + timeoutMs;
  const seen = new Set<number>();
  const ids = new Set(memoryIds).values();
  async function work(): Promise<void> {
    for (const id of ids) {
      // What is done by now still answers so, even when the time is up.
      const outcome = await waitForOne(io, client, id, Math.max(1000, until - io.now()));
      seen.add(outcome.exitCode);
      await onOutcome(outcome);
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work));
  const worst = [exitCodes.failed, exitCodes.notFound, exitCodes.processing];
  return worst.find((code) => seen.has(code)) ?? exitCodes.done;
}
