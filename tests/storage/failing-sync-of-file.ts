import fs from 'node:fs';

/*
 * Simulates a disk on which a sync of the database file outside of SQLite fails. Later syncs seem
 * to succeed, because the kernel reports an error only once.
 */
const { fdatasyncSync } = fs;
let hasFailed = false;
fs.fdatasyncSync = (file) => {
  if (hasFailed) return fdatasyncSync(file);
  hasFailed = true;
  throw Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' });
};
