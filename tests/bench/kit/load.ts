import { until } from '../../support/until.ts';
import { type Connection, connect, type Response } from './connection.ts';
import { quantile } from './numbers.ts';
import type { NextRequest } from './requests.ts';

export type Load = {
  url: string;
  connections: number;
  seconds: number;
  /** Ends the load early after this number of responses. */
  maxResponses?: number | undefined;
  next: NextRequest;
};

export type Measured = {
  requests: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
};

/**
 * A closed-loop load generator: for `seconds`, each connection sends a request, waits for the whole
 * response, and sends the next request. Rejects on the first unsuccessful response.
 */
export async function load(options: Load): Promise<Measured> {
  const { url, connections, seconds, maxResponses = Number.POSITIVE_INFINITY, next } = options;
  const endAt = performance.now() + seconds * 1_000;
  let left = maxResponses;
  const stop = () => {
    left = 0;
  };
  async function run(): Promise<number[]> {
    using connection = await connect(url);
    const latencies: number[] = [];
    do {
      const sentAt = performance.now();
      expectSuccess(await connection.send(next()));
      latencies.push(performance.now() - sentAt);
      left -= 1;
    } while (left > 0 && performance.now() < endAt);
    return latencies;
  }
  const all = Promise.all(Array.from({ length: connections }, run));
  return summary(await all.finally(stop));
}

function expectSuccess({ status, head }: Response): void {
  if (status >= 300) throw new Error(`the server rejected a request: ${head}`);
}

/**
 * Summarizes the latencies. The rate of a connection is the number of its responses divided by the
 * time that its requests were in flight, and the total rate is the sum over all connections.
 * Elapsed time would include the end of a measurement, when most connections are already closed.
 */
function summary(connections: number[][]): Measured {
  const all = connections.flat();
  const [p50Ms = 0, p99Ms = 0, maxMs = 0] = [0.5, 0.99, 1].map((share) => quantile(all, share));
  const perSecond = connections.reduce((sum, latencies) => {
    const inFlightMs = latencies.reduce((total, ms) => total + ms, 0);
    return sum + (latencies.length / inFlightMs) * 1_000;
  }, 0);
  return { requests: all.length, perSecond, p50Ms, p99Ms, maxMs };
}

/** The number of a request, its latency and its status. */
export type Sample = { number: number; ms: number; status: number };

type OpenLoop = {
  url: string;
  perSecond: number;
  /** How long to send requests, in ms, or what to wait for. */
  during: number | Promise<unknown>;
  /** Without this, the first unsuccessful response ends the load with an error. */
  mayFail?: true;
  next(number: number): Uint8Array;
};

const answeredWithinMs = 30_000;

/**
 * An open-loop load generator: it sends requests at a fixed rate whether or not earlier ones have
 * completed, each on an idle connection. The results therefore include every request that is due
 * during a stall.
 */
export async function openLoop(options: OpenLoop): Promise<Sample[]> {
  const { url, perSecond, during, mayFail = false, next } = options;
  using all = new DisposableStack();
  const idle: Connection[] = [];
  const samples: Sample[] = [];
  const failed = Promise.withResolvers<never>();
  async function send(number: number): Promise<void> {
    const connection = idle.pop() ?? all.use(await connect(url));
    const sentAt = performance.now();
    const response = await connection.send(next(number));
    if (!mayFail) expectSuccess(response);
    samples.push({ number, ms: performance.now() - sentAt, status: response.status });
    idle.push(connection);
  }
  async function run(): Promise<void> {
    let isOver = false;
    void Promise.resolve(typeof during === 'number' ? Bun.sleep(during) : during).finally(() => {
      isOver = true;
    });
    const begun = performance.now();
    let sent = 0;
    for (; !isOver; sent += 1) {
      send(sent).catch(failed.reject);
      await Bun.sleep(begun + ((sent + 1) * 1_000) / perSecond - performance.now());
    }
    const isAnswered = () => samples.length === sent;
    await until(isAnswered, { timeoutMs: answeredWithinMs, what: 'all responses' });
  }
  await Promise.race([run(), failed.promise]);
  return samples;
}
