import { Database } from 'bun:sqlite';

/** Holds the write lock of the database until this process is killed. */
const db = new Database(process.argv[2], { create: false, readwrite: true });
db.run('PRAGMA busy_timeout = 5000');
db.run('BEGIN EXCLUSIVE');
Object.assign(globalThis, { db });
console.log('held');
// The timer keeps the connection referenced. Garbage collection would close it and release the
// lock.
setInterval(() => db.inTransaction, 1_000);
