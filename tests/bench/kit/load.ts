import type { Socket } from 'bun';
import { createReader, type Reader } from './reader.ts';

/*
 * The load generator: every connection sends a request, waits for the whole answer, and sends the
 * next. Bytes go straight to sockets, because a client library would cost more than the service;
 * benchmark S0 measures how much this generator can do.
 */

export type Load = {
  url: string;
  connections: number;
  seconds: number;
  /** The next request as it goes over the wire. */
  next(): Uint8Array;
};

export type Measured = {
  requests: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
};

type State = { sentAt: number; rest: Uint8Array | null; reader: Reader; done: boolean };

/** Puts the service under load for a while. Rejects at the first answer that is not a success. */
export async function load({ url, connections, seconds, next }: Load): Promise<Measured> {
  const { hostname, port } = new URL(url);
  const latencies: number[] = [];
  const done = Promise.withResolvers<void>();
  const begun = performance.now();
  const endAt = begun + seconds * 1_000;
  let open = connections;

  function send(socket: Socket<State>): void {
    const request = next();
    socket.data.sentAt = performance.now();
    pour(socket, request);
  }
  function take(socket: Socket<State>, chunk: Buffer): void {
    const answer = socket.data.reader.take(chunk);
    if (answer === null) return;
    if (answer.status >= 300) done.reject(new Error(`refused: ${answer.head}`));
    const now = performance.now();
    latencies.push(now - socket.data.sentAt);
    if (now < endAt) {
      send(socket);
      return;
    }
    socket.data.done = true;
    socket.end();
    open -= 1;
    if (open === 0) done.resolve();
  }
  const handlers = {
    open: send,
    data: take,
    drain: (socket: Socket<State>) => pour(socket, socket.data.rest),
    error: (_: Socket<State>, error: Error) => done.reject(error),
    close(socket: Socket<State>) {
      if (!socket.data.done) done.reject(new Error('the service closed a connection'));
    },
  };
  for (let count = 0; count < connections; count += 1) {
    const data: State = { sentAt: 0, rest: null, reader: createReader(), done: false };
    await Bun.connect({ hostname, port: Number(port), data, socket: handlers });
  }
  await done.promise;
  return summary(latencies, performance.now() - begun);
}

/** Writes what the socket takes and keeps the rest until it takes more. */
function pour(socket: Socket<State>, bytes: Uint8Array | null): void {
  if (bytes === null) return;
  const written = socket.write(bytes);
  socket.data.rest = written < bytes.length ? bytes.subarray(Math.max(0, written)) : null;
}

function summary(latencies: number[], ms: number): Measured {
  const sorted = new Float64Array(latencies).sort();
  const at = (share: number): number =>
    sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
  return {
    requests: sorted.length,
    perSecond: sorted.length / (ms / 1_000),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    maxMs: at(1),
  };
}
