import { type Connection, type ConnectionOptions, createConnection } from './connection.ts';

/** Long for a lookup by key, short for a client. */
const passedOverAfterMs = 250;
const connections = 2;

/**
 * A connection for statements that may run in any order. While the server does not respond on it,
 * because its process hangs or the network is interrupted, new statements use another connection;
 * the first is replaced when its deadline has passed.
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
