import { Database } from 'bun:sqlite';

/** Holds an exclusive lock on the database until this process is killed. */
const db = new Database(process.argv[2], { create: false, readwrite: true });
db.run('PRAGMA busy_timeout = 5000');
db.run('BEGIN EXCLUSIVE');
Object.assign(globalThis, { db });
console.log('held');
// The timer keeps a reference to the connection. Without it, garbage collection could close the
// connection and release the lock.
setInterval(() => db.inTransaction, 1_000);
