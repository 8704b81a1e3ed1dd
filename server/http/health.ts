import { Elysia } from 'elysia';
import type { Health } from '../../sdk/contract/status.ts';
import type { Services } from '../app.ts';
import type { Logger } from '../log.ts';
import { sendJson } from './response.ts';

/** The worker polls the queue every few seconds; one that has not for this long is stuck. */
const stuckMs = 60_000;

/** /health, readiness, and /health/live: outside /v1, without a key. */
export function health(services: Services) {
  const report = onChange(services.log);
  const observed = cached(() => observe(services, report));
  return new Elysia()
    .get('/health', async ({ set }) => {
      const state = await observed();
      return sendJson(set, state.status === 'ok' ? 200 : 503, JSON.stringify(state));
    })
    .get('/health/live', ({ set }) => sendJson(set, 200, JSON.stringify({ status: 'ok' })));
}

/** Any client may ask as often as it likes: counting a long queue takes at most this share of the
 * time. */
const costShare = 0.05;

/** Calls `ask` at most so often that it takes `costShare` of the time. */
function cached<T>(ask: () => Promise<T>): () => Promise<T> {
  let last: { value: T; until: number } | null = null;
  return async () => {
    const begun = performance.now();
    if (last !== null && begun < last.until) return last.value;
    const value = await ask();
    const ended = performance.now();
    last = { value, until: ended + (ended - begun) / costShare };
    return value;
  };
}

type Report = (fault: string | null, error?: unknown) => void;

/** Any client may ask: a fault is logged once, until it changes. */
function onChange(log: Logger): Report {
  let last: string | null = null;
  return (fault, error) => {
    if (fault !== null && fault !== last) log.error(fault, { error });
    last = fault;
  };
}

async function observe(services: Services, report: Report): Promise<Health> {
  const { storage, now, version } = services;
  const about = { version, storage: storage.name };
  try {
    await storage.ping();
    const { pending, oldestAcceptedAt } = await storage.queueState();
    const waitsMs = oldestAcceptedAt === null ? null : Math.max(0, now() - oldestAcceptedAt);
    const oldestPendingSeconds = waitsMs === null ? null : waitsMs / 1_000;
    const fault = await storage.fault();
    report(fault);
    const message = services.unavailableReason() ?? fault ?? stuckQueue(services, pending);
    const queue = { pending, oldestPendingSeconds };
    if (message === null) return { status: 'ok', ...about, ...queue };
    return { status: 'failing', ...about, ...queue, message };
  } catch (error) {
    const message = 'the database does not answer';
    report(message, error);
    return { status: 'failing', ...about, pending: 0, oldestPendingSeconds: null, message };
  }
}

function stuckQueue({ worker }: Services, pending: number): string | null {
  const stuck = pending > 0 && performance.now() - worker.movedAt() >= stuckMs;
  return stuck ? 'the queue does not move' : null;
}
