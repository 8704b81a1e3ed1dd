import { Elysia } from 'elysia';
import type { Health } from '../../sdk/contract/status.ts';
import { ServiceError } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { QueueState } from '../storage/types/tasks.ts';
import { sendJson } from './response.ts';
import type { Services } from './services.ts';

/**
 * The worker reports progress after every poll and task. It is considered stuck if it reports no
 * progress for this long.
 */
const stuckMs = 60_000;

/** `work` is what `createWork` returns. */
export function createHealth(services: Services, work: () => Promise<Work>): () => Promise<Health> {
  const { storage, now, version, embedder, threads } = services;
  const report = onChange(services.log);
  const model = embedder?.model ?? null;

  return async () => {
    const about = { version, storage: storage.name };
    try {
      const { queue, toEmbed } = await work();
      const { fault, warning } = await storage.health();
      const { pending, oldestAcceptedAt } = queue;
      const waitsMs = oldestAcceptedAt === null ? null : Math.max(0, now() - oldestAcceptedAt);
      const oldestPendingSeconds = waitsMs === null ? null : waitsMs / 1_000;
      const counts = { pending, oldestPendingSeconds, embeddings: { model, pending: toEmbed } };
      const failure =
        services.unavailableReason() ?? threads.fault() ?? fault ?? queueFault(services, pending);
      report(failure ?? warning);
      if (failure !== null) return { status: 'failing', ...about, ...counts, message: failure };
      return { status: 'ok', ...about, ...counts, ...(warning !== null && { message: warning }) };
    } catch (error) {
      const { fault } = await storage.health();
      const message = threads.fault() ?? fault ?? reasonOf(error);
      report(message, error);
      const embeddings = { model, pending: 0 };
      const unknown = { pending: 0, oldestPendingSeconds: null, embeddings };
      return { status: 'failing', ...about, ...unknown, message };
    }
  };
}

function reasonOf(error: unknown): string {
  const isKnown = error instanceof ServiceError && error.code === 'unavailable';
  return isKnown ? error.message : 'the database does not respond';
}

/** Counts the queued tasks and the memories without vectors. */
export function createWork({ storage, embedder, threads }: Services): () => Promise<Work> {
  const none = { pending: 0, running: 0, oldestAcceptedAt: null, failed: 0 };
  const isFailing = async () => threads.fault() !== null || (await storage.health()).fault !== null;
  return cached({ queue: none, toEmbed: 0 }, isFailing, async () => {
    const queue = await storage.taskQueueState();
    return { queue, toEmbed: embedder === null ? 0 : await storage.embeddingBacklog() };
  });
}

export function health(readHealth: () => Promise<Health>) {
  return new Elysia()
    .get('/health', async ({ set }) => {
      const state = await readHealth();
      return sendJson(set, state.status === 'ok' ? 200 : 503, JSON.stringify(state));
    })
    .get('/health/live', ({ set }) => sendJson(set, 200, JSON.stringify({ status: 'ok' })));
}

export type Work = { queue: QueueState; toEmbed: number };

/** The maximum share of time spent counting the work. Counting a long queue is slow. */
const costShare = 0.05;
/** Limits the cache time, because a measured duration includes the wait for a reader thread. */
const maxCachedMs = 10_000;
/** While work is counted, how often to check for a fault. */
const checkEveryMs = 50;
/** How long a new count may take before the last is used, as when all reader threads are busy. */
const maxWaitMs = 1_000;
const never = Number.NEGATIVE_INFINITY;

/**
 * Caches the result of `count`, so that at most `costShare` of the time is spent in it. Returns the
 * last result if a new one takes long, and soon during a fault.
 */
function cached<T>(
  first: T,
  isFailing: () => Promise<boolean>,
  count: () => Promise<T>,
): () => Promise<T> {
  let last = first;
  /** Until when the last result is used; `never` if the last count failed, or there was none. */
  let until = never;
  let counting: Promise<void> | null = null;
  let begun = never;

  async function refresh(): Promise<void> {
    begun = performance.now();
    try {
      last = await count();
      const ended = performance.now();
      until = ended + Math.min(maxCachedMs, (ended - begun) / costShare);
    } catch (error) {
      until = never;
      throw error;
    } finally {
      counting = null;
    }
  }

  return async () => {
    if (performance.now() < until) return last;
    const isLate = () => until !== never && performance.now() - begun > maxWaitMs;
    counting ??= refresh();
    let isCounted = false;
    const counted = counting.then(() => {
      isCounted = true;
    });
    // Prevents an unhandled rejection if counting fails after this function has returned.
    counted.catch(() => {});
    do await Promise.race([counted, Bun.sleep(checkEveryMs)]);
    while (!isCounted && !isLate() && !(await isFailing()));
    return last;
  };
}

type Report = (fault: string | null, error?: unknown) => void;

/** Logs a fault only when it changes, because any client can request a health check at any time. */
function onChange(log: Logger): Report {
  let last: string | null = null;
  return (fault, error) => {
    if (fault !== null && fault !== last) log.error(fault, { error });
    last = fault;
  };
}

function queueFault({ tasks }: Services, pending: number): string | null {
  const isStuck = pending > 0 && performance.now() - tasks.movedAt() >= stuckMs;
  return isStuck ? 'the task queue is not making progress' : null;
}
