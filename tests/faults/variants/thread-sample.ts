import { Database } from 'bun:sqlite';

/** Imitates a thread of the service for the test of the preload module. */
const db = new Database(':memory:');
db.run('PRAGMA synchronous = FULL');
postMessage(db.prepare('SELECT synchronous FROM pragma_synchronous').get());
db.close();
