import { workerData } from 'node:worker_threads';
import {
  type Incoming,
  openInbox,
  parent,
  watched,
  yieldPriority,
} from '../../../threads/serve.ts';
import { createConnection, readInIndexOrder } from '../connection.ts';
import { notRead } from '../errors.ts';
import type { Run } from '../statement.ts';
import { readExport, readList } from './list.ts';
import { measureMemories } from './measure.ts';
import { readMemory, readStatuses } from './memories.ts';
import { createSearch } from './search.ts';
import { inSnapshot } from './snapshot.ts';
import { readTasks } from './tasks.ts';
import { readUsers } from './users.ts';

/**
 * A reader thread runs searches, filtered lists, exports and other slow reads on its own
 * connection. It runs one operation at a time, each in a snapshot. The HTTP thread schedules the
 * operations.
 */

export type ReaderStart = { url: string; maxIndexBytes: number };

const { url, maxIndexBytes } = workerData as ReaderStart;
const connection = createConnection({ url, purpose: 'reader', settings: readInIndexOrder });

const operations = {
  searchMemories: createSearch(maxIndexBytes),
  listMemories: readList,
  exportMemories: readExport,
  listUsers: readUsers,
  listTasks: readTasks,
  measureMemories,
  getMemory: readMemory,
  getStatuses: readStatuses,
};

async function answer(call: Incoming): Promise<void> {
  try {
    const operation = operations[call.operation as keyof typeof operations];
    const read = (run: Run) => operation(run, call.argument as never);
    call.reply(await inSnapshot<unknown>(connection, read));
  } catch (error) {
    call.fail(notRead(error));
  }
  inbox.flushReplies();
}

yieldPriority();
const inbox = openInbox(parent(), (call) => void answer(call));
watched(() => connection.close());
