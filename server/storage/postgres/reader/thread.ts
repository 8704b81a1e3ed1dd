import { workerData } from 'node:worker_threads';
import { serveReads } from '../../reader-thread.ts';
import { createConnection, readInIndexOrder } from '../connection.ts';
import { notRead } from '../errors.ts';
import { inSnapshot } from '../tx.ts';

export type ReaderStart = { url: string; maxIndexBytes: number };

const { url, maxIndexBytes } = workerData as ReaderStart;
const connection = createConnection({ url, purpose: 'reader', settings: readInIndexOrder });

serveReads({
  maxIndexBytes,
  inSnapshot: (read) => inSnapshot(connection, read),
  notRead,
  close: () => connection.close(),
});
