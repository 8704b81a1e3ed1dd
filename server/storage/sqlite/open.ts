import type { Database } from 'bun:sqlite';
import { existsSync, statSync } from 'node:fs';
import type { Storage } from '../storage.ts';
import { createAnswers } from './answers.ts';
import { damaged, structuralFaults, structuralFaultsAside } from './check.ts';
import { createJobs } from './jobs.ts';
import { createKeys } from './keys.ts';
import { lockDatabase } from './lock.ts';
import { createMemories } from './memories.ts';
import { migrate } from './migrate.ts';
import { createPassages } from './passages.ts';
import { canonicalPath } from './path.ts';
import { createRecords } from './records.ts';
import { createRoom } from './room.ts';
import { createScrubber } from './scrub.ts';
import { keepFilesPrivate, openDatabase } from './settings.ts';
import { createTransfer } from './transfer.ts';
import { createWriter } from './writer.ts';

const lockAdvice =
  'Stop it first, or give this one a database of its own with MEMORY_DATABASE_URL.';

/**
 * Opens the database file, making it where there is none, and brings its schema up to date.
 * `exclusive` keeps out a second server; admin commands do without. Throws an Error that says what
 * to do where the file cannot be served.
 */
export function openSqlite(name: string, { exclusive }: { exclusive: boolean }): Storage {
  keepFilesPrivate();
  const path = canonicalPath(name);
  const lock = exclusive ? lockDatabase(path, lockAdvice) : null;
  try {
    const db = openSound(path);
    migrate(db, path);
    return storageOn(db, path, lock);
  } catch (error) {
    lock?.release();
    throw error;
  }
}

/** A small file is checked before it is served; a large one while it is, by `findDamage`. */
const checkedAtOpenBytes = 16 * 1024 * 1024;

function openSound(path: string): Database {
  const db = openDatabase(path);
  const faults = isSmall(path) ? structuralFaults(db) : [];
  if (faults.length === 0) return db;
  db.close(false);
  throw damaged(path, faults);
}

function isSmall(path: string): boolean {
  return !existsSync(path) || statSync(path).size <= checkedAtOpenBytes;
}

function storageOn(db: Database, path: string, lock: { release(): void } | null): Storage {
  // The writer waits for other processes by itself, without holding up the reads.
  db.run('PRAGMA busy_timeout = 0');
  const writer = createWriter(db);
  const answers = createAnswers(db, writer);
  const passages = createPassages(db);
  const ensureRoom = createRoom(db);
  const scrubber = createScrubber(db, path);
  const ping = db.prepare('SELECT 1 FROM projects LIMIT 1');
  // What an earlier process noted and did not get to. An administrator's command leaves it.
  if (lock !== null) scrubber.wake();
  return {
    name: 'sqlite',
    ...createMemories(db, answers, passages),
    ...createTransfer(db, answers, passages, scrubber, ensureRoom),
    ...createRecords(db, answers, passages, ensureRoom),
    ...createJobs(db, writer, passages),
    ...createKeys(db, writer),
    listPassages: passages.listPassages,
    getPassages: passages.getPassages,
    sweepAnswers: answers.sweepAnswers,
    findDamage: async () => (isSmall(path) ? [] : structuralFaultsAside(path)),
    async ping() {
      ping.get();
    },
    async close() {
      scrubber.stop();
      await writer.drained();
      db.close(true);
      lock?.release();
    },
  };
}
