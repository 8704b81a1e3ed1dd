import type { Socket } from 'bun';
import { createReader, type Reader } from './reader.ts';

/** When a request was sent, in ms since the begin, and how long its answer took. */
export type Sample = { at: number; ms: number };

export type Pace = {
  url: string;
  perSecond: number;
  seconds: number;
  next(): Uint8Array;
};

type State = { sentAt: number; reader: Reader };

/**
 * Sends requests at a steady pace whether or not those before were answered, each on a connection
 * that is free: a service that stalls is seen by all who ask meanwhile, not by one.
 */
export async function pace({ url, perSecond, seconds, next }: Pace): Promise<Sample[]> {
  const { hostname, port } = new URL(url);
  const free: Socket<State>[] = [];
  const all: Socket<State>[] = [];
  const samples: Sample[] = [];
  const failed = Promise.withResolvers<never>();
  let waiting = 0;
  const begun = performance.now();
  const handlers = {
    data(socket: Socket<State>, chunk: Buffer) {
      const answer = socket.data.reader.take(chunk);
      if (answer === null) return;
      if (answer.status >= 300) return failed.reject(new Error(`refused: ${answer.head}`));
      const { sentAt } = socket.data;
      samples.push({ at: sentAt - begun, ms: performance.now() - sentAt });
      waiting -= 1;
      free.push(socket);
    },
    error: (_: Socket<State>, error: Error) => failed.reject(error),
  };
  async function connect(): Promise<Socket<State>> {
    const data: State = { sentAt: 0, reader: createReader() };
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
