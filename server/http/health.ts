import { Elysia } from 'elysia';
import type { Health } from '../../sdk/contract/status.ts';
import type { Services } from '../app.ts';
import type { Logger } from '../log.ts';
import { sendJson } from './answer.ts';

/** The worker looks at the queue every few seconds; one that has not for this long is stuck. */
const stuckMs = 60_000;

/** /health, readiness, and /health/live: outside /v1, without a key. */
export function health(services: Services) {
  const tell = onceEach(services.log);
  const observed = remembered(() => observe(services, tell));
  return new Elysia()
    .get('/health', async ({ set }) => {
      const state = await observed();
      return sendJson(set, state.status === 'ok' ? 200 : 503, JSON.stringify(state));
    })
    .get('/health/live', ({ set }) => sendJson(set, 200, JSON.stringify({ status: 'ok' })));
}

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

type Tell = (fault: string | null, error?: unknown) => void;

/** Without a key anybody may ask: the log gets a line where the answer has changed. */
function onceEach(log: Logger): Tell {
  let told: string | null = null;
  return (fault, error) => {
    if (fault !== null && fault !== told) log.error(fault, { error });
    told = fault;
  };
}

async function observe(services: Services, tell: Tell): Promise<Health> {
  const { storage, now, version } = services;
  const about = { version, storage: storage.name };
  try {
    await storage.ping();
    const { pending, oldestAcceptedAt } = await storage.queueState();
    const waitsMs = oldestAcceptedAt === null ? null : Math.max(0, now() - oldestAcceptedAt);
    const oldestPendingSeconds = waitsMs === null ? null : waitsMs / 1_000;
    const fault = await storage.fault();
    tell(fault);
    const message = services.refusal() ?? fault ?? stuckQueue(services, pending);
    const queue = { pending, oldestPendingSeconds };
    if (message === null) return { status: 'ok', ...about, ...queue };
    return { status: 'failing', ...about, ...queue, message };
  } catch (error) {
    const message = 'the database does not answer';
    tell(message, error);
    return { status: 'failing', ...about, pending: 0, oldestPendingSeconds: null, message };
  }
}

function stuckQueue({ worker }: Services, pending: number): string | null {
  const stuck = pending > 0 && performance.now() - worker.movedAt() >= stuckMs;
  return stuck ? 'the queue does not move' : null;
}
