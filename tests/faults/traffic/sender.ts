import { parentPort } from 'node:worker_threads';
import { createRandom } from '../../support/random.ts';
import type { Body, Request } from './bodies.ts';
import { kinds } from './kinds.ts';

/*
 * Sends requests from a separate thread, so that they do not delay those whose latency is measured.
 */

/** Either the same body on `atOnce` connections, or requests of one kind until `stop`. */
export type Order = { url: string; key: string } & (
  | { body: Body; atOnce: number }
  /** `documentId` is a large document of the heavy user. */
  | { kind: string; seed: number; perSecond: number; documentId: string }
);

/** Responses per status; `none` counts requests without a response. */
type Tally = Record<string, number>;

export type Sender = ReturnType<typeof startSender>;

const answerWithinMs = 30_000;
const accept = 'application/json, text/event-stream';

export function startSender() {
  const thread = new Worker(import.meta.url);
  return {
    /** Resolves when all requests are answered. */
    send(order: Order): Promise<Tally> {
      thread.postMessage(order);
      return new Promise((resolve) => {
        thread.onmessage = ({ data }) => resolve(data);
      });
    },
    stop: () => thread.postMessage('stop'),
    [Symbol.dispose]: () => void thread.terminate(),
  };
}

if (!Bun.isMainThread) {
  let stopping = new AbortController();
  parentPort?.on('message', async (message: Order | 'stop') => {
    if (message === 'stop') return stopping.abort();
    stopping = new AbortController();
    postMessage(await sendAll(message, stopping.signal));
  });
}

async function sendAll(order: Order, stopped: AbortSignal): Promise<Tally> {
  const { next, concurrency, count, perSecond } = planOf(order);
  const tally: Tally = {};
  const begun = performance.now();
  let sent = 0;
  async function run(): Promise<void> {
    while (sent < count && !stopped.aborted) {
      sent += 1;
      const status = await statusOf(order, next(sent - 1), stopped);
      tally[status] = (tally[status] ?? 0) + 1;
      // Spreads the requests evenly over the rate limit's window.
      const early = (sent * 1_000) / perSecond - (performance.now() - begun);
      if (early > 0) await Bun.sleep(early);
    }
  }
  await Promise.all(Array.from({ length: concurrency }, run));
  return tally;
}

function planOf(order: Order) {
  const unlimited = Number.POSITIVE_INFINITY;
  if ('body' in order) {
    const { body, atOnce } = order;
    return { next: () => body, concurrency: atOnce, count: atOnce, perSecond: unlimited };
  }
  const kind = kinds[order.kind];
  if (kind === undefined) throw new Error(`unknown kind ${order.kind}`);
  const next = kind.requests(createRandom(order.seed), order.documentId);
  const perSecond = kind.isUnpaced ? unlimited : order.perSecond;
  return { next, concurrency: kind.concurrency, count: unlimited, perSecond };
}

async function statusOf(
  { url, key }: Order,
  { method, path, bytes, chunked }: Request,
  stopped: AbortSignal,
): Promise<string> {
  try {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept },
      ...(bytes !== undefined && { body: chunked ? new Blob([bytes]).stream() : bytes }),
      signal: AbortSignal.any([stopped, AbortSignal.timeout(answerWithinMs)]),
    });
    await response.arrayBuffer();
    return String(response.status);
  } catch {
    return 'none';
  }
}
