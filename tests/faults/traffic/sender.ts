import { parentPort } from 'node:worker_threads';
import { createRandom } from '../../support/random.ts';
import { type Call, send as sendOne } from '../api.ts';
import type { Target } from '../target.ts';
import { kinds } from './kinds.ts';

/*
 * Sends requests from a separate thread, because serializing them would delay the requests whose
 * latency is measured.
 */

/** The same request `times` times at once, or requests of one kind until the sender is stopped. */
export type Order = { target: Pick<Target, 'url' | 'key'> } & (
  | { call: Call; times: number }
  // `documentId` is a large document of the heavy user.
  | { kind: string; seed: number; perSecond: number; documentId: string }
);

/** Responses per status; `none` counts requests without a response. */
type Tally = Record<string, number>;

const answerWithinMs = 30_000;

export function startSender() {
  const thread = new Worker(import.meta.url);
  const nextMessage = <T>() =>
    new Promise<T>((resolve, reject) => {
      Object.assign(thread, {
        onmessage: ({ data }: MessageEvent<T>) => resolve(data),
        onerror: ({ message }: ErrorEvent) => reject(new Error(message)),
      });
    });
  return {
    /** Resolves when the thread begins to send. `tally` resolves when all responses arrived. */
    async send(order: Order): Promise<{ tally: Promise<Tally> }> {
      thread.postMessage(order);
      await nextMessage();
      return { tally: nextMessage<Tally>() };
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
    const plan = planOf(message);
    postMessage('begun');
    postMessage(await send(message, plan, stopping.signal));
  });
}

function planOf(order: Order) {
  if ('call' in order) {
    const { call, times } = order;
    return { next: () => call, concurrency: times, times, perSecond: Infinity };
  }
  const { isUnpaced, requests, concurrency } = kinds[order.kind] as (typeof kinds)[string];
  const next = requests(createRandom(order.seed), order.documentId);
  const perSecond = isUnpaced ? Infinity : order.perSecond;
  return { next, concurrency, times: Infinity, perSecond };
}

async function send(
  { target }: Order,
  { next, concurrency, times, perSecond }: ReturnType<typeof planOf>,
  signal: AbortSignal,
): Promise<Tally> {
  const tally: Tally = {};
  const begun = performance.now();
  let sent = 0;
  async function run(): Promise<void> {
    while (sent < times && !signal.aborted) {
      const call = next(sent);
      sent += 1;
      const until = AbortSignal.any([signal, AbortSignal.timeout(answerWithinMs)]);
      const status = (await sendOne(target, call, until))?.status ?? 'none';
      if (signal.aborted) return;
      tally[status] = (tally[status] ?? 0) + 1;
      // Spreads the requests evenly over the rate limit's window.
      const early = (sent * 1_000) / perSecond - (performance.now() - begun);
      if (early > 0) await Bun.sleep(early);
    }
  }
  await Promise.all(Array.from({ length: concurrency }, run));
  return tally;
}
