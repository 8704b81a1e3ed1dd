import { workerData } from 'node:worker_threads';
import { openInbox, parent, watched } from '../../../threads/serve.ts';
import { isSyncFault } from '../errors.ts';
import { closeKeepingLog, openForWriting } from '../settings.ts';
import type { CheckpointOutcome } from '../writer/checkpoints.ts';

/*
 * The checkpoint thread: writes the log's pages into the file while the writer goes on. After a
 * failed sync of the file the system may count pages as written that are not, and a later sync
 * would not say so. No checkpoint is made after that: the log has everything, and the next start
 * writes it into the file again.
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
