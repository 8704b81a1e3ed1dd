import type { MemoryClient } from '../sdk/index.ts';
import { exitCodes } from './failure.ts';
import type { Io } from './io.ts';
import { openPace } from './pace.ts';
import { look, type Outcome } from './waiting.ts';

const atOnce = 8;
/** What is done when the time is over still answers so: each that soon, and all within a little. */
const lateLookMs = 300;
const graceMs = 2_000;
const busyMs = 5_000;

/**
 * Waits for many within one deadline, a few at a time, and tells of each as it ends. The last one
 * comes first: the queue is in order, so once that is done the others answer at the first look.
 */
export async function waitForAll(
  io: Io,
  client: MemoryClient,
  memoryIds: Iterable<string>,
  timeoutMs: number,
  onOutcome: (outcome: Outcome) => Promise<void>,
): Promise<number> {
  const { RateLimitError } = await import('../sdk/index.ts');
  const until = io.now() + timeoutMs;
  const left = [...new Set(memoryIds)];
  const silent: string[] = [];
  const seen = new Set<number>();
  const pace = openPace(io, until);
  async function tell(outcome: Outcome): Promise<void> {
    seen.add(outcome.exitCode);
    await onOutcome(outcome);
  }
  async function lookAt(memoryId: string): Promise<void> {
    const leftMs = until - io.now();
    if (leftMs < -graceMs || !(await pace.ready())) return void silent.push(memoryId);
    const lookMs = Math.max(lateLookMs, until - io.now());
    const outcome = await look(io, client, memoryId, { timeoutMs, lookMs, onHeaders: pace.read });
    const isSilent = outcome.exitCode === exitCodes.processing && outcome.status === null;
    if (isSilent) silent.push(memoryId);
    else await tell(outcome);
  }
  async function work(): Promise<void> {
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      try {
        await lookAt(id);
      } catch (error) {
        if (!(error instanceof RateLimitError)) throw error;
        pace.pause(error.retryAfterMs ?? busyMs);
        left.push(id);
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work));
  if (silent.length > 0) {
    const outcomeOf = await silence(io, client, timeoutMs);
    for (const id of silent) await tell(outcomeOf(id));
  }
  const worst = [exitCodes.failed, exitCodes.notFound, exitCodes.processing];
  return worst.find((code) => seen.has(code)) ?? exitCodes.done;
}

/** What is told of those that did not answer in time: where the queue is empty, they are done. */
async function silence(io: Io, client: MemoryClient, timeoutMs: number) {
  const { MemoryServiceError, WaitTimeoutError } = await import('../sdk/index.ts');
  const { pending } = await client.health({ signal: io.interrupted });
  return (memoryId: string): Outcome => {
    const told = { memoryId, status: null, exitCode: exitCodes.processing };
    if (pending > 0) {
      return { ...told, error: new WaitTimeoutError(memoryId, timeoutMs, undefined) };
    }
    const message = `${memoryId} is processed; how it ended was not asked within ${timeoutMs} ms`;
    const error = new MemoryServiceError(`${message}: give a longer --timeout`, {
      code: 'wait_timeout',
    });
    return { ...told, error, notAsked: true };
  };
}
