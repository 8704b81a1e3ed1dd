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
import { notRead } from '../errors.ts';
import type { ReaderStart } from '../protocol.ts';
import { openForReading } from '../settings.ts';
import { createTx } from '../transaction.ts';

/**
 * A reader thread runs searches, filtered lists, exports and other slow reads. Each operation runs
 * to completion in a read transaction. The HTTP thread schedules the operations.
 */

const { path, maxIndexBytes } = workerData as ReaderStart;
const db = openForReading(path);
const begin = db.prepare('BEGIN');
const end = db.prepare('END');
const tx = { ...createTx(db), indexes: createHeldIndexes(maxIndexBytes) };

async function answer({ operation: name, argument, reply, fail }: Incoming): Promise<void> {
  try {
    const operation = readOperations.get(name);
    if (operation === undefined) throw new Error(`unknown read: ${name}`);
    begin.run();
    reply(await operation.run(tx, argument));
  } catch (error) {
    fail(notRead(error));
  } finally {
    if (db.inTransaction) end.run();
  }
  inbox.flushReplies();
}

yieldPriority();
const inbox = openInbox(parent(), (call) => void answer(call));
watched(() => db.close(true));
