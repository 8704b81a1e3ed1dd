import { setTimeout } from 'node:timers/promises';
import type { IngestStatus, MemoryClient } from '../../sdk/index.ts';
import { openThrottle, type Throttled } from '../client/rate-limiter.ts';
import { exitCodes } from '../errors.ts';
import { hint, type Terminal } from '../terminal/terminal.ts';
import { type Outcome, outcomeOf } from './outcome.ts';
import { readStatuses, type Seen } from './statuses.ts';

const firstPauseMs = 100;
const longestPauseMs = 2_000;
/** Of more than these only the last is asked for, for that long, before all are looked up. */
const few = 20;
const firstGateMs = 15_000;
const longestGateMs = 60_000;

/** Waits for many within one deadline and reports each as it ends. Gives the exit code. */
export async function waitForAll(
  term: Terminal,
  client: MemoryClient,
  memoryIds: Iterable<string>,
  timeoutMs: number,
  onOutcome: (outcome: Outcome) => Promise<void>,
): Promise<number> {
  const until = term.now() + timeoutMs;
  const pending = new Set(memoryIds);
  const count = pending.size;
  const codes = new Set<number>();
  const unfinished = new Map<string, IngestStatus | null>();
  const throttled = await openThrottle(term, until);
  async function finish(outcome: Outcome): Promise<void> {
    pending.delete(outcome.memoryId);
    codes.add(outcome.exitCode);
    await onOutcome(outcome);
  }
  let wasThere = false;
  async function onSeen(seen: Seen): Promise<void> {
    wasThere = true;
    if (seen.state === 'processing') unfinished.set(seen.memoryId, seen.status);
    else await finish(await outcomeOf(seen));
  }
  let gateMs = firstGateMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 1.5, longestPauseMs)) {
    if (pending.size > few)
      await untilLast(term, client, throttled, pending, Math.min(gateMs, until - term.now()));
    gateMs = Math.min(gateMs * 2, longestGateMs);
    unfinished.clear();
    await readStatuses(client, [...pending], throttled, onSeen);
    const leftMs = until - term.now();
    if (pending.size === 0 || leftMs <= 0) break;
    await setTimeout(Math.min(pauseMs, leftMs), undefined, { signal: term.interrupted });
  }
  const late = await lateOutcomes(term, client, timeoutMs, wasThere);
  const silent = [...pending].filter((id) => !unfinished.has(id));
  for (const id of [...pending]) await finish(await late(id, unfinished.get(id)));
  if (codes.has(exitCodes.notAsked)) await reportNotAsked(term, silent.length, count, timeoutMs);
  const worst = [exitCodes.failed, exitCodes.notFound, exitCodes.processing, exitCodes.notAsked];
  return worst.find((code) => codes.has(code)) ?? exitCodes.done;
}

/** The queue is in order: before the last one has ended, looking all of them up shows little. */
async function untilLast(
  term: Terminal,
  client: MemoryClient,
  throttled: Throttled,
  pending: Set<string>,
  ms: number,
) {
  const last = [...pending].at(-1);
  if (last === undefined || ms <= 0) return;
  const wait = { timeoutMs: ms, signal: term.interrupted };
  await throttled(() => client.waitUntilComplete(last, wait)).catch(() => {
    // However it ended, the look at all of them says so.
    term.interrupted.throwIfAborted();
  });
}

/** The outcome of those that have not ended in time. Where the queue is empty, those that did not
 * answer are processed. */
async function lateOutcomes(
  term: Terminal,
  client: MemoryClient,
  timeoutMs: number,
  wasThere: boolean,
) {
  const { WaitTimeoutError } = await import('../../sdk/index.ts');
  let pending: number | undefined;
  return async (memoryId: string, status: IngestStatus | null | undefined): Promise<Outcome> => {
    if (status === undefined) pending ??= await pendingIn(term, client, wasThere);
    if (status === undefined && pending === 0) {
      return { memoryId, status: null, exitCode: exitCodes.notAsked, error: null };
    }
    const error = new WaitTimeoutError(memoryId, timeoutMs, status ?? undefined);
    return { memoryId, status: status ?? null, exitCode: exitCodes.processing, error };
  };
}

async function pendingIn(term: Terminal, client: MemoryClient, wasThere: boolean): Promise<number> {
  try {
    return (await client.health({ signal: term.interrupted })).pending;
  } catch (error) {
    if (!wasThere || term.interrupted.aborted) throw error;
    // It is away by now, which says nothing of its queue: not that it is empty.
    return Number.POSITIVE_INFINITY;
  }
}

/** Some of them may have failed, which is not to be taken for success. */
async function reportNotAsked(term: Terminal, notAsked: number, count: number, timeoutMs: number) {
  await hint(
    term,
    `Nothing is waiting any more: all ${count} are processed. How ${notAsked} of them
ended was not asked within ${timeoutMs} ms: give a longer --timeout, or see which
failed: memory list --user <id> --all --json | jq -c 'select(.status=="failed")'`,
  );
}
