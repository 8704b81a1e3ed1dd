import { workerData } from 'node:worker_threads';
import {
  type Incoming,
  openInbox,
  parent,
  watched,
  yieldPriority,
} from '../../../threads/serve.ts';
import { createHeldIndexes } from '../../held-indexes.ts';
import { readOperations } from '../../operations/index.ts';
import { unavailable } from '../../refusals.ts';
import { notRead } from '../errors.ts';
import type { ReaderStart } from '../protocol.ts';
import { openForReading } from '../settings.ts';
import { createTx } from '../transaction.ts';

/**
 * A reader thread runs searches, filtered lists, exports and other slow reads. Each operation runs
 * to completion in a read transaction. The HTTP thread schedules the operations.
 */

const { path, maxIndexBytes } = workerData as ReaderStart;
let opened: ReturnType<typeof open> | null = null;

function open() {
  const db = openForReading(path);
  const tx = { ...createTx(db), indexes: createHeldIndexes(maxIndexBytes) };
  return { db, tx, begin: db.prepare('BEGIN'), end: db.prepare('END') };
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

async function answer({ operation: name, argument, reply, fail }: Incoming): Promise<void> {
  try {
    const operation = readOperations.get(name);
    if (operation === undefined) throw new Error(`unknown read: ${name}`);
    const { begin, tx } = connection();
    begin.run();
    reply(await operation.run(tx, argument));
  } catch (error) {
    fail(notRead(error));
  } finally {
    if (opened?.db.inTransaction) opened.end.run();
  }
  inbox.flushReplies();
}

yieldPriority();
const inbox = openInbox(parent(), (call) => void answer(call));
watched(() => opened?.db.close(true));
