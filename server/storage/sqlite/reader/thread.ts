import { workerData } from 'node:worker_threads';
import {
  type Incoming,
  openInbox,
  parent,
  reportProgress,
  watched,
  yieldPriority,
} from '../../../threads/serve.ts';
import { replyToRead } from '../../read-reply.ts';
import type { Read, Storage, StoredStatus } from '../../storage.ts';
import type { QueueState } from '../../task-storage.ts';
import { notRead } from '../errors.ts';
import type { ReaderStart } from '../protocol.ts';
import { openForReading } from '../settings.ts';
import { createPageReads } from './list.ts';
import { createMeasure } from './measure.ts';
import { prepareGet, prepareStatus } from './memories.ts';
import { createSearches } from './search.ts';
import { createTaskReads } from './tasks.ts';
import { createUserReads } from './users.ts';
import { createVectorReads } from './vectors.ts';

/**
 * A reader thread runs searches, filtered lists, exports and other slow reads. Each operation runs
 * to completion in a read transaction. The HTTP thread schedules the operations.
 */

const { path, maxIndexBytes } = workerData as ReaderStart;
const db = openForReading(path);
const getStatus = prepareStatus(db);
const queueState = db.prepare<QueueState, []>(
  `SELECT count(*) AS pending, count(*) FILTER (WHERE state = 'running') AS running,
     min(accepted_at) AS oldestAcceptedAt,
     (SELECT count(*) FROM tasks WHERE run_at IS NULL AND error_message IS NOT NULL) AS failed
   FROM tasks INDEXED BY tasks_pending WHERE run_at IS NOT NULL`,
);

/**
 * Reads each id once, because computing the status of a memory without a task requires its whole
 * text.
 */
function getStatuses({ ids, ...read }: Parameters<Storage['getStatuses']>[0]): StoredStatus[] {
  const byId = new Map<string, StoredStatus | null>();
  for (const id of new Set(ids)) {
    byId.set(id, getStatus({ ...read, id }));
    reportProgress();
  }
  return ids.map((id) => byId.get(id) ?? null).filter((status) => status !== null);
}

const operations = {
  ...createPageReads(db),
  ...createUserReads(db),
  ...createTaskReads(db),
  ...createMeasure(db),
  ...createSearches(db, maxIndexBytes),
  getMemory: prepareGet(db),
  getStatuses,
  embeddingBacklog: createVectorReads(db).embeddingBacklog,
  // mutate-ignore constant: an aggregate has a row
  taskQueueState: () =>
    queueState.get() ?? { pending: 0, running: 0, oldestAcceptedAt: null, failed: 0 },
};

export type ReaderOperations = typeof operations;

const begin = db.prepare('BEGIN');
const end = db.prepare('END');

function run({ operation, argument }: Incoming): unknown {
  begin.run();
  try {
    return operations[operation as keyof ReaderOperations](argument as Read as never);
  } finally {
    if (db.inTransaction) end.run();
  }
}

yieldPriority();
const inbox = openInbox(parent(), (call) => {
  try {
    replyToRead(call, run(call));
  } catch (error) {
    call.fail(notRead(error));
  }
  inbox.flushReplies();
});
watched(() => db.close(true));
