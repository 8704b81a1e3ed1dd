import fs from 'node:fs';

/*
 * Simulates a disk that fails the first sync of the database file that does not come from SQLite.
 * Later syncs seem to succeed, because the kernel reports an error only once.
 */
const { fdatasyncSync } = fs;
let hasFailed = false;
fs.fdatasyncSync = (file) => {
  if (hasFailed) return fdatasyncSync(file);
  hasFailed = true;
  throw Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' });
};
