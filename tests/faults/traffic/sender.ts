import { parentPort } from 'node:worker_threads';
import { createRandom } from '../../support/random.ts';
import { type Kind, kinds, type Request } from './kinds.ts';

/*
 * Sends requests of one kind from a thread of its own, so that sending does not delay the thread
 * that measures.
 */
export type Order = { url: string; key: string; kind: string; seed: number; perSecond: number };

/** Responses per status; `none` counts requests without a response. */
export type Tally = Record<string, number>;

export type Sender = { stop(): Promise<Tally> };

/** Resolves when the first requests are on their way. */
export async function startSender(order: Order): Promise<Sender> {
  const thread = new Worker(import.meta.url);
  const receive = () =>
    new Promise<unknown>((resolve) => {
      thread.onmessage = ({ data }) => resolve(data);
    });
  thread.postMessage(order);
  await receive();
  return {
    async stop() {
      thread.postMessage('stop');
      const tally = (await receive()) as Tally;
      thread.terminate();
      return tally;
    },
  };
}

if (!Bun.isMainThread) {
  const stopping = new AbortController();
  const tally: Tally = {};
  parentPort?.on('message', (data: Order | 'stop') => {
    if (data !== 'stop') return void send(data, kinds[data.kind] as Kind, tally, stopping.signal);
    stopping.abort();
    postMessage(tally);
  });
}

async function send(order: Order, kind: Kind, tally: Tally, signal: AbortSignal): Promise<void> {
  const next = kind.requests(createRandom(order.seed));
  postMessage('started');
  const begun = performance.now();
  let sent = 0;
  async function run(): Promise<void> {
    while (!signal.aborted) {
      const request = next(sent);
      sent += 1;
      const status = await statusOf(order, request, signal);
      tally[status] = (tally[status] ?? 0) + 1;
      // Spread evenly over the rate limit's window.
      const early = (sent * 1_000) / order.perSecond - (performance.now() - begun);
      if (early > 0) await Bun.sleep(early);
    }
  }
  await Promise.all(Array.from({ length: kind.concurrency }, run));
}

async function statusOf(
  { url, key }: Order,
  { method, path, body }: Request,
  signal: AbortSignal,
): Promise<string> {
  try {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body }),
      signal,
    });
    await response.arrayBuffer();
    return String(response.status);
  } catch {
    return 'none';
  }
}
