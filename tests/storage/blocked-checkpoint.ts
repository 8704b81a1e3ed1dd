import fs from 'node:fs';
import { databasePath, ownThread } from '../support/preloaded.ts';

/*
 * Preloaded in each thread of a storage. Delays each sync of the database file in the checkpoint
 * thread, and leaves a file next to the database after the first.
 */
const delayMs = 6_000;

const { fdatasyncSync } = fs;
if (ownThread === 'checkpoint') {
  fs.fdatasyncSync = (file) => {
    Bun.sleepSync(delayMs);
    fdatasyncSync(file);
    fs.writeFileSync(`${databasePath()}.synced`, '');
  };
}
