import { parentPort } from 'node:worker_threads';
import type { Body } from './bodies.ts';

/** Sends the same body concurrently on several connections, from a separate thread. */
export type Burst = (order: Order) => Promise<number[]>;

type Order = { url: string; key: string; body: Body; atOnce: number };

const answerWithinMs = 30_000;
const accept = 'application/json, text/event-stream';

export function startBursts(): { send: Burst; end(): void } {
  const thread = new Worker(import.meta.url);
  return {
    send(order) {
      thread.postMessage(order);
      return new Promise((resolve) => {
        thread.onmessage = ({ data }) => resolve(data);
      });
    },
    end: () => thread.terminate(),
  };
}

if (!Bun.isMainThread) {
  parentPort?.on('message', async (order: Order) => {
    postMessage(await Promise.all(Array.from({ length: order.atOnce }, () => send(order))));
  });
}

/** Returns the status, or 0 if no response arrived. */
async function send({ url, key, body }: Order): Promise<number> {
  try {
    const response = await fetch(url + body.path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept },
      body: body.chunked ? new Blob([body.bytes]).stream() : body.bytes,
      signal: AbortSignal.timeout(answerWithinMs),
    });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
}
