import { type Connection, type ConnectionOptions, createConnection } from './connection.ts';

/** Long for a statement by key, and short for a client. */
const passedOverAfterMs = 250;
const connections = 2;

/**
 * A connection for statements that may come in any order. While the server does not answer on it,
 * because its process is stuck or the network lost the way, another one takes what comes; the first
 * is made again when its deadline has passed.
 */
export function createSharedConnection(options: ConnectionOptions): Connection {
  const all = Array.from({ length: connections }, () => createConnection(options));

  function next(): Connection {
    const answering = all.find((one) => one.silentMs() < passedOverAfterMs);
    return answering ?? all.reduce((a, b) => (b.silentMs() < a.silentMs() ? b : a));
  }

  return {
    session: () => next().session(),
    run: (statements, deadlineMs) => next().run(statements, deadlineMs),
    silentMs: () => Math.max(...all.map((one) => one.silentMs())),
    close() {
      for (const one of all) one.close();
    },
  };
}
