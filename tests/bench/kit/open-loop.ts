import type { Socket } from 'bun';
import { until } from '../../support/until.ts';
import { createResponseParser, type ResponseParser } from './response-parser.ts';

/** The number and the send time of a request, in ms since the start, its latency and its status. */
export type Sample = { number: number; at: number; ms: number; status: number };

type OpenLoop = {
  url: string;
  perSecond: number;
  /** How long to send requests, in ms, or what to wait for. */
  during: number | Promise<unknown>;
  /** Without this, the first unsuccessful response ends the load with an error. */
  mayFail?: true;
  next(number: number): Uint8Array;
};

type State = { number: number; sentAt: number; parser: ResponseParser };

const answeredWithinMs = 30_000;

/**
 * An open-loop load generator: it sends requests at a fixed rate whether or not earlier ones have
 * completed, each on an idle connection. The results therefore include every request that is due
 * during a stall.
 */
export async function openLoop(options: OpenLoop): Promise<Sample[]> {
  const { url, perSecond, during, mayFail = false, next } = options;
  const { hostname, port } = new URL(url);
  const free: Socket<State>[] = [];
  const all: Socket<State>[] = [];
  const samples: Sample[] = [];
  const failed = Promise.withResolvers<never>();
  let waiting = 0;
  const begun = performance.now();
  const handlers = {
    data(socket: Socket<State>, chunk: Buffer) {
      const response = socket.data.parser.parse(chunk);
      if (response === null) return;
      const { status, head } = response;
      if (status >= 300 && !mayFail)
        return failed.reject(new Error(`the server rejected a request: ${head}`));
      const { number, sentAt } = socket.data;
      samples.push({ number, at: sentAt - begun, ms: performance.now() - sentAt, status });
      waiting -= 1;
      free.push(socket);
    },
    error: (_: Socket<State>, error: Error) => failed.reject(error),
  };
  async function connect(): Promise<Socket<State>> {
    const data: State = { number: 0, sentAt: 0, parser: createResponseParser() };
    const socket = await Bun.connect({ hostname, port: Number(port), data, socket: handlers });
    all.push(socket);
    return socket;
  }
  async function send(number: number): Promise<void> {
    waiting += 1;
    const socket = free.pop() ?? (await connect());
    Object.assign(socket.data, { number, sentAt: performance.now() });
    socket.write(next(number));
  }
  async function run(): Promise<void> {
    let isOver = false;
    void Promise.resolve(typeof during === 'number' ? Bun.sleep(during) : during).finally(() => {
      isOver = true;
    });
    for (let number = 0; !isOver; number += 1) {
      send(number).catch(failed.reject);
      await Bun.sleep(begun + ((number + 1) * 1_000) / perSecond - performance.now());
    }
    await until(() => waiting === 0, { timeoutMs: answeredWithinMs, what: 'all responses' });
  }
  await Promise.race([run(), failed.promise]);
  for (const socket of all) socket.end();
  return samples;
}
