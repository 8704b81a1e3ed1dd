import type { Socket } from 'bun';
import { quantile } from './numbers.ts';
import type { NextRequest } from './requests.ts';
import { createResponseParser, type ResponseParser } from './response-parser.ts';

/*
 * A closed-loop load generator: each connection sends a request, waits for the whole response, and
 * sends the next request. The generator writes bytes directly to sockets, because a client library
 * would use more CPU time than the service. Benchmark S0 measures the generator's maximum rate.
 */

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

type State = {
  parser: ResponseParser;
  /** The part of a request that the socket has not yet accepted. */
  rest: Uint8Array | null;
  sentAt: number;
  latencies: number[];
  done: boolean;
};

/** Puts load on a server for `seconds`. Rejects on the first unsuccessful response. */
export async function load({
  url,
  connections,
  seconds,
  maxResponses = Number.POSITIVE_INFINITY,
  next,
}: Load): Promise<Measured> {
  const { hostname, port } = new URL(url);
  const sockets: Socket<State>[] = [];
  const done = Promise.withResolvers<void>();
  const begun = performance.now();
  const endAt = begun + seconds * 1_000;
  let open = connections;
  let responses = 0;

  function send(socket: Socket<State>): void {
    const request = next();
    socket.data.sentAt = performance.now();
    writeAll(socket, request);
  }
  function receive(socket: Socket<State>, chunk: Buffer): void {
    const response = socket.data.parser.parse(chunk);
    if (response === null || socket.data.done) return;
    if (response.status >= 300) fail(new Error(`the server rejected a request: ${response.head}`));
    const now = performance.now();
    responses += 1;
    socket.data.latencies.push(now - socket.data.sentAt);
    if (now < endAt && responses < maxResponses && !socket.data.done) {
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
    await Bun.connect({ hostname, port: Number(port), data: createState(), socket: handlers });
  }
  await done.promise;
  return summary(sockets.map(({ data }) => data.latencies));
}

function createState(): State {
  return { parser: createResponseParser(), rest: null, sentAt: 0, latencies: [], done: false };
}

/** Writes as much as the socket accepts and keeps the rest until the socket drains. */
function writeAll(socket: Socket<State>, bytes: Uint8Array | null): void {
  if (bytes === null) return;
  const written = socket.write(bytes);
  socket.data.rest = written < bytes.length ? bytes.subarray(Math.max(0, written)) : null;
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
