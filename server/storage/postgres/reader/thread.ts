import { workerData } from 'node:worker_threads';
import {
  type Incoming,
  openInbox,
  parent,
  watched,
  yieldPriority,
} from '../../../threads/serve.ts';
import { replyToRead } from '../../read-reply.ts';
import type { Storage } from '../../storage.ts';
import { createConnection, readInIndexOrder } from '../connection.ts';
import { notRead } from '../errors.ts';
import { readExport, readList } from './list.ts';
import { readStatuses } from './memories.ts';
import { createSearches } from './search.ts';
import { inSnapshot } from './snapshot.ts';
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
  ...createSearches(connection, maxIndexBytes),
  listMemories: (read: Parameters<Storage['listMemories']>[0]) =>
    inSnapshot(connection, (run) => readList(run, read)),
  exportMemories: (read: Parameters<Storage['exportMemories']>[0]) =>
    inSnapshot(connection, (run) => readExport(run, read)),
  listUsers: (read: Parameters<Storage['listUsers']>[0]) =>
    inSnapshot(connection, (run) => readUsers(run, read)),
  getStatuses: (read: Parameters<Storage['getStatuses']>[0]) =>
    inSnapshot(connection, (run) => readStatuses(run, read)),
};

async function answer(call: Incoming): Promise<void> {
  try {
    const operation = operations[call.operation as keyof typeof operations];
    replyToRead(call, await operation(call.argument as never));
  } catch (error) {
    call.fail(notRead(error));
  }
  inbox.flushReplies();
}

yieldPriority();
const inbox = openInbox(parent(), (call) => void answer(call));
watched(() => connection.close());
