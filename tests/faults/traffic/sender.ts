import type { Subprocess } from 'bun';
import { createRandom } from '../../support/random.ts';
import { type Kind, kinds, type Request } from './kinds.ts';

/*
 * Sends requests of one kind from a separate process. All threads of a process share one thread for
 * Bun's fetch, so large responses would delay the requests whose latency is measured.
 */
export type Order = {
  url: string;
  key: string;
  kind: string;
  seed: number;
  perSecond: number;
  /** A large document of the heavy user. */
  documentId: string;
};

const accept = 'application/json, text/event-stream';

/** Responses per status; `none` counts requests without a response. */
export type Tally = Record<string, number>;

export type Sender = { stop(): Promise<Tally> };

/** Resolves when the sender begins to send requests. */
export async function startSender(order: Order): Promise<Sender> {
  const started = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<Tally>();
  const sender: Subprocess = Bun.spawn([process.execPath, import.meta.path], {
    stdio: ['ignore', 'inherit', 'inherit'],
    ipc: (message: 'started' | Tally) => {
      if (message === 'started') started.resolve();
      else stopped.resolve(message);
    },
    onExit(_, code) {
      const error = new Error(`the sender exited with code ${code}`);
      started.reject(error);
      stopped.reject(error);
    },
  });
  stopped.promise.catch(() => {});
  sender.send(order);
  await started.promise;
  return {
    async stop() {
      sender.send('stop');
      const tally = await stopped.promise;
      sender.kill();
      await sender.exited;
      return tally;
    },
  };
}

if (import.meta.main) {
  const stopping = new AbortController();
  const tally: Tally = {};
  process.on('message', (message: Order | 'stop') => {
    if (message !== 'stop') {
      return void send(message, kinds[message.kind] as Kind, tally, stopping.signal);
    }
    stopping.abort();
    process.send?.(tally);
  });
}

async function send(order: Order, kind: Kind, tally: Tally, signal: AbortSignal): Promise<void> {
  const next = kind.requests(createRandom(order.seed), order.documentId);
  const perSecond = kind.isUnpaced ? Number.POSITIVE_INFINITY : order.perSecond;
  process.send?.('started');
  const begun = performance.now();
  let sent = 0;
  async function run(): Promise<void> {
    while (!signal.aborted) {
      const request = next(sent);
      sent += 1;
      const status = await statusOf(order, request, signal);
      tally[status] = (tally[status] ?? 0) + 1;
      // Spreads the requests evenly over the rate limit's window.
      const early = (sent * 1_000) / perSecond - (performance.now() - begun);
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
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept },
      ...(body !== undefined && { body }),
      signal,
    });
    await response.arrayBuffer();
    return String(response.status);
  } catch {
    return 'none';
  }
}
