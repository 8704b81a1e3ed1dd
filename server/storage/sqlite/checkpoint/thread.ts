import fs from 'node:fs';
import { announced, answerCalls, parent, startData, watched } from '../../../threads/serve.ts';
import { isSyncFault } from '../errors.ts';
import { closeKeepingLog, openForWriting } from '../settings.ts';
import type { CheckpointOutcome } from '../writer/checkpoints.ts';

/**
 * The checkpoint thread copies pages from the WAL to the file while the writer continues. After a
 * failed sync, the operating system may treat unwritten pages as written, so a later sync could
 * succeed without them. The thread then makes no further checkpoints, and the next start
 * checkpoints the complete WAL.
 */

const { path } = await startData<{ path: string }>();
let opened: ReturnType<typeof open> | null = null;
let syncFailed = false;

/**
 * SQLite syncs the file only after it has checkpointed the last page of the WAL, and the writer
 * checkpoints that page. This thread syncs the file earlier, so that the writer's sync has little
 * left to do. The file is never closed, because closing it would release SQLite's locks on the same
 * file.
 */
function open() {
  const db = openForWriting(path);
  const file = fs.openSync(path, 'r+');
  return { db, file, checkpoint: db.prepare('PRAGMA wal_checkpoint(PASSIVE)') };
}

function run(): CheckpointOutcome {
  if (!syncFailed) syncFailed = !checkpointed() || !synced();
  return { syncFailed };
}

function checkpointed(): boolean {
  try {
    opened ??= open();
    opened.checkpoint.all();
    return true;
  } catch (error) {
    // After any other error, the WAL is still complete, and the next checkpoint continues.
    return !isSyncFault(error);
  }
}

function synced(): boolean {
  try {
    if (opened !== null) fs.fdatasyncSync(opened.file);
    return true;
  } catch {
    return false;
  }
}

// A slow disk may take long to store the pages.
answerCalls(parent, () => announced(run));
watched(() => {
  if (opened === null) return;
  if (syncFailed) closeKeepingLog(path, opened.db);
  else opened.db.close(true);
});
