import { type Connection, type ConnectionOptions, createConnection } from './connection.ts';

/** A connection that has not responded for this long is avoided. Lookups by key take less time. */
const passedOverAfterMs = 250;
const connections = 2;

/**
 * Two connections for statements that may run in any order. If one is lost or stops responding, new
 * statements use the other until the first one has recovered.
 */
export function createSharedConnection(options: ConnectionOptions): Connection {
  const all = Array.from({ length: connections }, () => createConnection(options));

  /** Keeps both connections open, so that either is ready when the other fails. */
  function openAll(): void {
    for (const one of all) {
      if (!one.isOpen()) one.session().catch(() => {});
    }
  }

  function next(): Connection {
    const open = all.filter((one) => one.isOpen());
    if (open.length > 0) openAll();
    const usable = open.length > 0 ? open : all;
    const answering = usable.find((one) => one.silentMs() < passedOverAfterMs);
    return answering ?? usable.reduce((a, b) => (b.silentMs() < a.silentMs() ? b : a));
  }

  return {
    session: () => next().session(),
    run: (statements, deadlineMs) => next().run(statements, deadlineMs),
    isOpen: () => all.some((one) => one.isOpen()),
    silentMs: () => Math.max(...all.map((one) => one.silentMs())),
    close() {
      for (const one of all) one.close();
    },
  };
}
