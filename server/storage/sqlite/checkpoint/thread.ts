import { workerData } from 'node:worker_threads';
import { openInbox, parent, watched } from '../../../threads/serve.ts';
import { isSyncFault } from '../errors.ts';
import { closeKeepingLog, openForWriting } from '../settings.ts';
import type { CheckpointOutcome } from '../writer/checkpoints.ts';

/**
 * The checkpoint thread writes the log's pages to the file while the writer continues. After a
 * failed sync, the operating system may treat unwritten pages as written, so a later sync could
 * succeed without them. The thread then makes no further checkpoints, and the next start writes the
 * complete log to the file.
 */

const { path } = workerData as { path: string };
const db = openForWriting(path);
const checkpoint = db.prepare('PRAGMA wal_checkpoint(PASSIVE)');
let syncFailed = false;

function run(): CheckpointOutcome {
  try {
    if (!syncFailed) checkpoint.all();
  } catch (error) {
    // After any other error the log is still complete, and the next checkpoint continues.
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
