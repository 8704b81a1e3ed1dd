import { Database } from 'bun:sqlite';

/** Holds an exclusive lock on the database until this process is killed. */
const db = new Database(process.argv[2], { create: false, readwrite: true });
db.run('PRAGMA busy_timeout = 5000');
db.run('BEGIN EXCLUSIVE');
Object.assign(globalThis, { db });
console.log('held');
// The timer references the connection. Otherwise, garbage collection could close the connection and
// release the lock.
setInterval(() => db.inTransaction, 1_000);
