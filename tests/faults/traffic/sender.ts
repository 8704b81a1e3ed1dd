import { parentPort } from 'node:worker_threads';
import { createRandom } from '../../support/random.ts';
import { type Kind, kinds, type Request } from './kinds.ts';

/*
 * Sends requests of one kind in a thread of its own, so that who measures is not held up by who
 * sends.
 */
export type Order = { url: string; key: string; kind: string; seed: number; perSecond: number };

/** How often each status was answered; `none` where a request was cut off. */
export type Tally = Record<string, number>;

export type Sender = { stop(): Promise<Tally> };

export function startSender(order: Order): Sender {
  const thread = new Worker(import.meta.url);
  thread.postMessage(order);
  return {
    stop: () =>
      new Promise((resolve) => {
        thread.onmessage = ({ data }) => {
          thread.terminate();
          resolve(data);
        };
        thread.postMessage('stop');
      }),
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
  const begun = performance.now();
  let sent = 0;
  async function run(): Promise<void> {
    while (!signal.aborted) {
      const request = next(sent);
      sent += 1;
      const status = await statusOf(order, request, signal);
      tally[status] = (tally[status] ?? 0) + 1;
      // The allowance of the rate limit, evenly used.
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
      ...(body !== undefined && { body: body }),
      signal,
    });
    await response.arrayBuffer();
    return String(response.status);
  } catch {
    return 'none';
  }
}
