import { startData } from '../../../threads/serve.ts';
import type { Tx } from '../../engine.ts';
import { serveReads } from '../../reader-thread.ts';
import { unavailable } from '../../refusals.ts';
import { writeThrough } from '../client.ts';
import { notRead } from '../errors.ts';
import type { ReaderStart } from '../protocol.ts';
import { openForReading } from '../settings.ts';
import { createTx } from '../transaction.ts';

const { path, maxIndexBytes, port } = await startData<ReaderStart>();
let opened: ReturnType<typeof open> | null = null;

function open() {
  const db = openForReading(path);
  return { db, tx: createTx(db), begin: db.prepare('BEGIN'), end: db.prepare('END') };
}

/** Opens the file for the first read, which fails if the file has been moved. */
function connection(): ReturnType<typeof open> {
  try {
    opened ??= open();
    return opened;
  } catch (error) {
    throw unavailable('the database cannot be opened; try again', error);
  }
}

async function inSnapshot<T>(read: (tx: Tx) => Promise<T>): Promise<T> {
  const { db, tx, begin, end } = connection();
  try {
    begin.run();
    return await read(tx);
  } finally {
    if (db.inTransaction) end.run();
  }
}

serveReads({
  maxIndexBytes,
  inSnapshot,
  write: writeThrough(port),
  notRead,
  close: () => opened?.db.close(true),
});
