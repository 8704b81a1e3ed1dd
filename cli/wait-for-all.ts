import { setTimeout } from 'node:timers/promises';
import type { MemoryClient } from '../sdk/index.ts';
import { exitCodes } from './failure.ts';
import { hint, type Io } from './io.ts';
import { openPace } from './pace.ts';
import { look, type Outcome } from './waiting.ts';

const atOnce = 8;
/** What is done when the time is over still answers so: each that soon, and all within a little. */
const lateLookMs = 300;
const graceMs = 2_000;
/** Between two tries while the service is away, as when it is started anew. */
const awayMs = 1_000;

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
  const { ConnectionError } = await import('../sdk/index.ts');
  const until = io.now() + timeoutMs;
  const left = [...new Set(memoryIds)];
  const count = left.length;
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
        // Only a service that was never there is told at once.
        if (seen.size === 0 || !(error instanceof ConnectionError)) throw error;
        left.push(id);
        await setTimeout(awayMs, undefined, { signal: io.interrupted });
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work));
  if (silent.length > 0) {
    const outcomeOf = await silence(io, client, timeoutMs, seen.size > 0);
    for (const id of silent) await tell(outcomeOf(id));
  }
  if (seen.has(exitCodes.notAsked)) await tellNotAsked(io, silent.length, count, timeoutMs);
  const worst = [exitCodes.failed, exitCodes.notFound, exitCodes.processing, exitCodes.notAsked];
  return worst.find((code) => seen.has(code)) ?? exitCodes.done;
}

/** What is told of those that did not answer in time: where the queue is empty, they are done. */
async function silence(io: Io, client: MemoryClient, timeoutMs: number, wasThere: boolean) {
  const { WaitTimeoutError } = await import('../sdk/index.ts');
  const { pending } = await client.health({ signal: io.interrupted }).catch((error) => {
    if (!wasThere || io.interrupted.aborted) throw error;
    // It is away by now, which says nothing of its queue: not that it is empty.
    return { pending: Number.POSITIVE_INFINITY };
  });
  return (memoryId: string): Outcome =>
    pending > 0
      ? {
          memoryId,
          status: null,
          exitCode: exitCodes.processing,
          error: new WaitTimeoutError(memoryId, timeoutMs, undefined),
        }
      : { memoryId, status: null, exitCode: exitCodes.notAsked, error: null };
}

/** Some of them may have failed, which is not to be taken for success. */
async function tellNotAsked(io: Io, notAsked: number, count: number, timeoutMs: number) {
  await hint(
    io,
    `Nothing is waiting any more: all ${count} are processed. How ${notAsked} of them
ended was not asked within ${timeoutMs} ms: give a longer --timeout, or see which
failed: memory list --user <id> --all --json | jq -c 'select(.status=="failed")'`,
  );
}
