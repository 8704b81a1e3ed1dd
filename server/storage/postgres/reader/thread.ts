import { startData } from '../../../threads/serve.ts';
import type { Tx } from '../../engine.ts';
import type { IndexCache } from '../../index-cache.ts';
import { serveReads } from '../../reader-thread.ts';
import { createConnection, type Session } from '../connection.ts';
import { createShortEngine } from '../engine.ts';
import { notRead } from '../errors.ts';
import { readInIndexOrder } from '../planner.ts';
import { inSnapshot } from '../tx.ts';

export type ReaderStart = { url: string; maxIndexBytes: number };

const { url, maxIndexBytes } = await startData<ReaderStart>();
const connection = createConnection({ url, purpose: 'reader', settings: readInIndexOrder });
/** Opened for the first snapshot that this thread stores. */
const storing = createConnection({ url, purpose: 'snapshots' });
const { write } = createShortEngine({ connection: storing });
let last: Session | null = null;

/**
 * After a failover that has lost changes, their numbers are given to other changes. A failover ends
 * the session.
 */
async function inPresentSession<T>(read: (tx: Tx) => Promise<T>, indexes: IndexCache): Promise<T> {
  const session = await connection.session();
  if (session !== last) indexes.dropAll();
  last = session;
  return inSnapshot(session, read);
}

serveReads({
  maxIndexBytes,
  inSnapshot: inPresentSession,
  write,
  notRead,
  close() {
    connection.close();
    storing.close(); // mutate-ignore removal: the thread ends
  },
});
