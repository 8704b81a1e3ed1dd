import { type Port, portOf } from '../../../threads/channel.ts';
import {
  type Inbox,
  type Incoming,
  openInbox,
  parent,
  startData,
  watched,
} from '../../../threads/serve.ts';
import type { WriteOperation, WriteTx } from '../../engine.ts';
import { nameOfKey } from '../../operations/idempotency.ts';
import { QueueLimit } from '../../queue-limit.ts';
import { threadWrites } from '../../storage.ts';
import { watchFile } from '../file-identity.ts';
import {
  maxSmallRows,
  type WriterNotice,
  type WriterOrder,
  type WriterStart,
} from '../protocol.ts';
import { applySetting, closeKeepingLog, openForWriting } from '../settings.ts';
import { createTx } from '../transaction.ts';
import { createCheckpoints } from './checkpoints.ts';
import { createGroupCommit } from './group-commit.ts';
import { createWriteHealth } from './health.ts';
import { createScrubber } from './scrub.ts';

/**
 * The writer thread owns the only connection that writes data. If SQLite blocks, only this thread
 * waits. The HTTP thread and the tasks thread send calls through separate ports.
 */

/** The operations by the names in messages to this thread. */
const byName = new Map<string, WriteOperation<unknown, unknown>>(Object.entries(threadWrites));

/** How long to wait for an admin command that is writing. */
const busyTimeoutMs = 500;
const scrubEveryMs = 500;

const { path, log } = await startData<WriterStart>();
const db = openForWriting(path);
applySetting(db, 'busy_timeout', busyTimeoutMs);
// The checkpoint thread makes checkpoints on request, so SQLite's automatic checkpoints are off.
applySetting(db, 'wal_autocheckpoint', 0);

const notify = (notice: WriterNotice) => parent.postMessage(notice);
const inboxes: Inbox[] = [];

const fileCheck = watchFile(path);
const health = createWriteHealth({ db, fileCheck, changed: (fault) => notify({ fault }) });
const checkpoints = createCheckpoints({
  db,
  path,
  request: (checkpoint) => notify({ checkpoint }),
  onSyncFailure: () => notify({ syncFailed: true }),
});
const scrubber = createScrubber({
  db,
  path,
  checkpoints,
  warn: (message, error) => log.warn(message, { error: String(error) }),
});
const group = createGroupCommit({
  db,
  health,
  tx: {
    ...createTx(db, { isWriting: true }),
    noteRemoved: async (what) =>
      what === 'memory' ? scrubber.noteDeleted() : scrubber.noteErased(),
    queueLimit: new QueueLimit(),
  },
  afterGroup() {
    flushReplies();
    checkpoints.committed();
    scrubber.noteWritten();
  },
});

function flushReplies(): void {
  for (const inbox of inboxes) inbox.flushReplies();
}

function addWrite(call: Incoming): void {
  // A checkpoint cannot run inside a transaction.
  if (call.operation === 'finishCheckpoint') {
    checkpoints.finish();
    call.reply(null);
    flushReplies();
    return;
  }
  const { argument, reply, fail } = call;
  const operation = byName.get(call.operation);
  if (operation === undefined) throw new Error(`unknown write: ${call.operation}`);
  // mutate-ignore constant: a small write
  const { cost = () => 1, isBackground = false } = operation;
  // mutate-ignore operand: affects only when it runs
  const isLarge = isBackground || cost(argument) > maxSmallRows;
  const run = (tx: WriteTx) => operation.run(tx, argument);
  group.add({ key: nameOfKey(argument), run, reply, fail }, isLarge ? 'large' : 'small');
}

function listen(port: Port): void {
  inboxes.push(openInbox(port, addWrite));
}

parent.listen((order) => {
  // mutate-ignore operand: no other message has these fields
  if (typeof order !== 'object' || order === null || Array.isArray(order)) return;
  const { port, checkpointed } = order as WriterOrder;
  if (port !== undefined) listen(portOf(port));
  if (checkpointed !== undefined) checkpoints.made(checkpointed);
});
listen(parent);
const scrubbing = setInterval(scrubber.runIfDue, scrubEveryMs);

watched(async () => {
  clearInterval(scrubbing);
  health.stop();
  await group.drain();
  // After a failed sync, the file may lack pages from the WAL, so the WAL is kept.
  if (checkpoints.syncFailed()) closeKeepingLog(path, db);
  else db.close(true); // mutate-ignore removal: the thread ends
});
