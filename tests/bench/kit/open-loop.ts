import type { Socket } from 'bun';
import { createResponseParser, type ResponseParser } from './response-parser.ts';

/** The send time of a request, in ms since the start, and its latency. */
export type Sample = { at: number; ms: number };

export type OpenLoop = {
  url: string;
  perSecond: number;
  seconds: number;
  next(): Uint8Array;
};

type State = { sentAt: number; parser: ResponseParser };

/**
 * An open-loop load generator: it sends requests at a fixed rate whether or not earlier ones have
 * completed, each on an idle connection. The results therefore include every request that is due
 * during a stall.
 */
export async function openLoop({ url, perSecond, seconds, next }: OpenLoop): Promise<Sample[]> {
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
      if (response.status >= 300)
        return failed.reject(new Error(`the server rejected a request: ${response.head}`));
      const { sentAt } = socket.data;
      samples.push({ at: sentAt - begun, ms: performance.now() - sentAt });
      waiting -= 1;
      free.push(socket);
    },
    error: (_: Socket<State>, error: Error) => failed.reject(error),
  };
  async function connect(): Promise<Socket<State>> {
    const data: State = { sentAt: 0, parser: createResponseParser() };
    const socket = await Bun.connect({ hostname, port: Number(port), data, socket: handlers });
    all.push(socket);
    return socket;
  }
  async function send(): Promise<void> {
    waiting += 1;
    const socket = free.pop() ?? (await connect());
    socket.data.sentAt = performance.now();
    socket.write(next());
  }
  async function run(): Promise<void> {
    for (let sent = 0; sent < perSecond * seconds; sent += 1) {
      const dueInMs = begun + (sent * 1_000) / perSecond - performance.now();
      if (dueInMs > 0) await Bun.sleep(dueInMs);
      send().catch(failed.reject);
    }
    while (waiting > 0) await Bun.sleep(1);
  }
  await Promise.race([run(), failed.promise]);
  for (const socket of all) socket.end();
  return samples;
}
