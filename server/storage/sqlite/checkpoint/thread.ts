import { workerData } from 'node:worker_threads';
import { openInbox, parent, watched } from '../../../threads/serve.ts';
import { isSyncFault } from '../errors.ts';
import { closeKeepingLog, openForWriting } from '../settings.ts';
import type { CheckpointOutcome } from '../writer/checkpoints.ts';

/*
 * The checkpoint thread: writes the log's pages into the file while the writer goes on. After a sync of
 * the file that failed, the system may take for written what it could not write, and the next sync
 * would mean nothing. Then no checkpoint is made any more: the log has it all, and the next start
 * writes it into the file once more.
 */

const { path } = workerData as { path: string };
const db = openForWriting(path);
const checkpoint = db.prepare('PRAGMA wal_checkpoint(PASSIVE)');
let syncFailed = false;

function run(): CheckpointOutcome {
  try {
    if (!syncFailed) checkpoint.all();
  } catch (error) {
    // Of other faults the log is kept as well, and a later checkpoint goes on from here.
    syncFailed = isSyncFault(error);
  }
  return { syncFailed };
}

const inbox = openInbox(parent(), ({ reply }) => {
  reply(run());
  inbox.flushReplies();
});
watched(() => {
  if (syncFailed) closeKeepingLog(path, db);
  else db.close(true);
});
