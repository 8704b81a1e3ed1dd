import { type Connection, type ConnectionOptions, createConnection } from './connection.ts';

/** A connection that has not responded for this long is avoided. Lookups by key are faster. */
const passedOverAfterMs = 250;
const connections = 2;

/**
 * Two connections for statements that may run in any order. If the server stops responding on one,
 * new statements use the other. The first reopens after its deadline.
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
