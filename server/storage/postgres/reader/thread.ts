import { startData } from '../../../threads/serve.ts';
import { QueueLimit } from '../../queue-limit.ts';
import { serveReads } from '../../reader-thread.ts';
import { createConnection } from '../connection.ts';
import { createShortEngine } from '../engine.ts';
import { notRead } from '../errors.ts';
import { readInIndexOrder } from '../planner.ts';
import { createShortTx, inSnapshot } from '../tx.ts';
import { createWriteQueue } from '../write-queue.ts';

export type ReaderStart = { url: string; maxIndexBytes: number };

const { url, maxIndexBytes } = await startData<ReaderStart>();
const connection = createConnection({ url, purpose: 'reader', settings: readInIndexOrder });
/** Opened for the first snapshot that this thread stores. */
const storing = createConnection({ url, purpose: 'snapshots' });
const { write } = createShortEngine({
  writes: createWriteQueue({ connections: [storing] }),
  tx: createShortTx(storing),
  queueLimit: new QueueLimit(),
});

serveReads({
  maxIndexBytes,
  inSnapshot: (read) => inSnapshot(connection, read),
  write,
  notRead,
  close() {
    connection.close();
    storing.close(); // mutate-ignore removal: the thread ends
  },
});
