import type { Socket } from 'bun';
import type { NextRequest } from './requests.ts';
import { createResponseParser, type ResponseParser } from './response-parser.ts';

/*
 * A closed-loop load generator: every connection sends a request, waits for the whole response, and
 * sends the next. It writes bytes straight to sockets, because a client library would cost more
 * than the service; benchmark S0 measures how much it can do.
 */

export type Load = {
  url: string;
  connections: number;
  seconds: number;
  next: NextRequest;
};

export type Measured = {
  requests: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
};

type State = { sentAt: number; rest: Uint8Array | null; parser: ResponseParser; done: boolean };

/** Loads a server for a while. Rejects at the first response that is not a success. */
export async function load({ url, connections, seconds, next }: Load): Promise<Measured> {
  const { hostname, port } = new URL(url);
  const latencies: number[] = [];
  const sockets: Socket<State>[] = [];
  const done = Promise.withResolvers<void>();
  const begun = performance.now();
  const endAt = begun + seconds * 1_000;
  let open = connections;

  function send(socket: Socket<State>): void {
    const request = next();
    socket.data.sentAt = performance.now();
    writeAll(socket, request);
  }
  function receive(socket: Socket<State>, chunk: Buffer): void {
    const response = socket.data.parser.take(chunk);
    if (response === null || socket.data.done) return;
    if (response.status >= 300) fail(new Error(`the server rejected a request: ${response.head}`));
    const now = performance.now();
    latencies.push(now - socket.data.sentAt);
    if (now < endAt && !socket.data.done) {
      send(socket);
      return;
    }
    socket.data.done = true;
    socket.end();
    open -= 1;
    if (open === 0) done.resolve();
  }
  function fail(error: Error): void {
    done.reject(error);
    for (const socket of sockets) {
      socket.data.done = true;
      socket.end();
    }
  }
  const handlers = {
    open(socket: Socket<State>) {
      sockets.push(socket);
      send(socket);
    },
    data: receive,
    drain: (socket: Socket<State>) => writeAll(socket, socket.data.rest),
    error: (_: Socket<State>, error: Error) => fail(error),
    close(socket: Socket<State>) {
      if (!socket.data.done) fail(new Error('the server closed a connection'));
    },
  };
  for (let count = 0; count < connections; count += 1) {
    const data: State = { sentAt: 0, rest: null, parser: createResponseParser(), done: false };
    await Bun.connect({ hostname, port: Number(port), data, socket: handlers });
  }
  await done.promise;
  return summary(latencies, performance.now() - begun);
}

/** Writes what the socket accepts and keeps the rest until it drains. */
function writeAll(socket: Socket<State>, bytes: Uint8Array | null): void {
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
