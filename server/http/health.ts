import { Elysia } from 'elysia';
import type { Health } from '../../sdk/contract/status.ts';
import type { Services } from '../app.ts';
import type { Logger } from '../log.ts';
import type { Storage } from '../storage/storage.ts';
import { sendJson } from './answer.ts';

/** The worker looks at the queue every few seconds; one that has not for this long is stuck. */
const stuckMs = 60_000;

/** /health: outside /v1, without a key. */
export function health(services: Services) {
  const report = onChange(services.log);
  const queueState = remembered(() => services.storage.taskQueueState());
  return new Elysia().get('/health', async ({ set }) => {
    const state = await observe(services, queueState, report);
    return sendJson(set, state.status === 'ok' ? 200 : 503, JSON.stringify(state));
  });
}

type QueueState = Awaited<ReturnType<Storage['taskQueueState']>>;

/** Without a key anybody may ask as often as they like: counting a long queue takes at most this
 * share of the time. */
const costShare = 0.05;

/** Asks again only once the last question has paid for itself. */
function remembered<T>(ask: () => Promise<T>): () => Promise<T> {
  let last: { answer: T; until: number } | null = null;
  return async () => {
    const begun = performance.now();
    if (last !== null && begun < last.until) return last.answer;
    const answer = await ask();
    const ended = performance.now();
    last = { answer, until: ended + (ended - begun) / costShare };
    return answer;
  };
}

type Report = (fault: string | null, error?: unknown) => void;

/** Without a key anybody may ask: the log gets a line where the answer has changed. */
function onChange(log: Logger): Report {
  let last: string | null = null;
  return (fault, error) => {
    if (fault !== null && fault !== last) log.error(fault, { error });
    last = fault;
  };
}

async function observe(
  services: Services,
  queueState: () => Promise<QueueState>,
  report: Report,
): Promise<Health> {
  const { storage, now, version } = services;
  const about = { version, storage: storage.name };
  const { fault, warning } = await storage.health();
  try {
    const { pending, oldestAcceptedAt } = await queueState();
    const waitsMs = oldestAcceptedAt === null ? null : Math.max(0, now() - oldestAcceptedAt);
    const queue = { pending, oldestPendingSeconds: waitsMs === null ? null : waitsMs / 1_000 };
    const failure = services.unavailableReason() ?? fault ?? stuckQueue(services, pending);
    report(failure ?? warning);
    if (failure !== null) return { status: 'failing', ...about, ...queue, message: failure };
    return { status: 'ok', ...about, ...queue, ...(warning !== null && { message: warning }) };
  } catch (error) {
    const message = fault ?? 'the database does not answer';
    report(message, error);
    return { status: 'failing', ...about, pending: 0, oldestPendingSeconds: null, message };
  }
}

function stuckQueue({ tasks }: Services, pending: number): string | null {
  const isStuck = pending > 0 && performance.now() - tasks.movedAt() >= stuckMs;
  return isStuck ? 'the task queue does not move' : null;
}
