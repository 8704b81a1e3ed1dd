import { Database } from 'bun:sqlite';
import { limits } from '../../../sdk/contract/limits.ts';

/** Imitates a thread of the service for the test of the preload module. */
const db = new Database(':memory:');
db.run('PRAGMA synchronous = FULL');
const row = db.prepare('SELECT synchronous FROM pragma_synchronous').get();
postMessage({ row, pendingRecords: limits.pendingRecords });
db.close();
