import { Elysia } from 'elysia';
import type { Health } from '../../sdk/contract/status.ts';
import type { Services } from '../app.ts';
import { sendJson } from './answer.ts';

/** The worker looks at the queue every few seconds; one that has not for this long is stuck. */
const stuckMs = 60_000;

/** /health: outside /v1, without a key. */
export function health(services: Services) {
  return new Elysia().get('/health', async (context) => {
    const state = await observe(services);
    return sendJson(context, state.status === 'ok' ? 200 : 503, JSON.stringify(state));
  });
}

async function observe({ storage, worker, now, version, log }: Services): Promise<Health> {
  const about = { version, storage: storage.name };
  try {
    await storage.ping();
    const { pending, oldestAcceptedAt } = await storage.queueState();
    const oldestPendingSeconds =
      oldestAcceptedAt === null ? null : Math.max(0, (now() - oldestAcceptedAt) / 1_000);
    const queue = { pending, oldestPendingSeconds };
    if (pending === 0 || now() - worker.movedAt() < stuckMs) {
      return { status: 'ok', ...about, ...queue };
    }
    return { status: 'failing', ...about, ...queue, message: 'the queue does not move' };
  } catch (error) {
    log.error('the database does not answer', { error });
    const message = 'the database does not answer';
    return { status: 'failing', ...about, pending: 0, oldestPendingSeconds: null, message };
  }
}
