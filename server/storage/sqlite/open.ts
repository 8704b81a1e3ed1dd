import type { Database } from 'bun:sqlite';
import { existsSync, statSync } from 'node:fs';
import type { Storage } from '../storage.ts';
import { createAnswers } from './answers.ts';
import { damaged, structuralFaults, structuralFaultsAside } from './check.ts';
import { createCheckpointer } from './checkpoint.ts';
import { diskFull, fileUnsynced, isBusy, logUnsynced } from './faults.ts';
import { createJobs } from './jobs.ts';
import { createKeys } from './keys.ts';
import { leaveOpen } from './leave-open.ts';
import { lockDatabase, openInPlace } from './lock.ts';
import { createMemories } from './memories.ts';
import { migrate } from './migrate.ts';
import { createPassages } from './passages.ts';
import { canonicalPath } from './path.ts';
import { createRecords } from './records.ts';
import { createRoom } from './room.ts';
import { createScrubber, type Report } from './scrub.ts';
import {
  applySetting,
  type Connections,
  closeUnfolded,
  keepFilesPrivate,
  openDatabase,
  writerCacheSize,
} from './settings.ts';
import { createSnapshot } from './snapshot.ts';
import { createTransfer } from './transfer.ts';
import { createWal, type Wal } from './wal.ts';
import { createWriter } from './writer.ts';

const lockAdvice =
  'Stop it first, or give this one a database of its own with MEMORY_DATABASE_URL.';

/**
 * Opens the database file, making it where there is none, and brings its schema up to date.
 * `exclusive` keeps out a second server; admin commands do without. `report` hears of what goes
 * wrong beside the requests. Throws an Error that says what to do where the file cannot be served.
 */
export function openSqlite(
  name: string,
  { exclusive, report = () => {} }: { exclusive: boolean; report?: Report },
): Storage {
  keepFilesPrivate();
  const path = canonicalPath(name);
  const lock = exclusive ? lockDatabase(path, lockAdvice) : null;
  const opened: Database[] = [];
  function open(): Database {
    const db = openDatabase(path);
    opened.push(db);
    return db;
  }
  function openBoth(): Connections {
    const writes = open();
    assertSound(writes, path);
    migrate(writes, path);
    return { reads: open(), writes };
  }
  try {
    // The server's own lock keeps a restore away.
    const connections = exclusive ? openBoth() : openInPlace(path, openBoth);
    return storageOn(connections, path, { lock, report });
  } catch (error) {
    closeUnfolded(path, ...opened);
    lock?.release();
    throw error;
  }
}

/** A small file is checked before it is served; a large one while it is, by `findDamage`. */
const checkedAtOpenBytes = 16 * 1024 * 1024;

function assertSound(db: Database, path: string): void {
  const faults = isSmall(path) ? structuralFaults(db) : [];
  if (faults.length > 0) throw damaged(path, faults);
}

function isSmall(path: string): boolean {
  return !existsSync(path) || statSync(path).size <= checkedAtOpenBytes;
}

/** A process that was killed may have left commits on the way to the disk, or that the disk did not
 * take. They are shown from now on, so they have to be there. */
function mendRecovered(writes: Database, wal: Wal, path: string): void {
  try {
    writes.run('BEGIN IMMEDIATE');
    wal.mend();
    writes.run('ROLLBACK');
  } catch (cause) {
    wal.close();
    const why = isBusy(cause)
      ? `another process has been writing to ${path} for long; try again when it has ended`
      : `the disk reports a fault; look at the system's log about ${path}`;
    throw new Error(why, { cause });
  }
}

function closeFiles({ reads, writes }: Connections, wal: Wal): void {
  wal.close();
  reads.close(true);
  writes.close(true);
}

function storageOn(
  connections: Connections,
  path: string,
  { lock, report }: { lock: { release(): void } | null; report: Report },
): Storage {
  const { reads, writes } = connections;
  const wal = createWal(path);
  const snapshot = createSnapshot(reads);
  if (lock !== null) mendRecovered(writes, wal, path);
  applySetting(writes, 'cache_size', writerCacheSize);
  // The server has a thread for it, and may have to keep the log, of which nobody else knows.
  applySetting(writes, 'wal_autocheckpoint', 0);
  // The writer waits for other processes by itself, without holding up the reads.
  applySetting(writes, 'busy_timeout', 0);
  // An administrator's command ends soon, and the last one to close makes a checkpoint.
  const checkpointer = lock === null ? null : createCheckpointer(writes, path);
  /** What the disk may not have is in the log, and the next start writes it once more. */
  const keepsLog = () => wal.hasFailed() || checkpointer?.hasFailed() === true;
  const writer = createWriter({
    db: writes,
    wal,
    snapshot,
    // Of an administrator's command the server would not know what is not there yet.
    waitsAside: lock !== null,
    committed: () => checkpointer?.committed(),
  });
  const answers = createAnswers(writes, writer);
  const passages = createPassages(connections);
  const ensureRoom = createRoom(writes);
  const scrubber = createScrubber(connections, path, { keepsLog, report });
  const ping = reads.prepare('SELECT 1 FROM projects LIMIT 1');
  // What an earlier process noted and did not get to. An administrator's command leaves it.
  if (lock !== null) scrubber.wake();
  return {
    name: 'sqlite',
    ...createMemories(connections, answers, passages, snapshot.version),
    ...createTransfer(connections, answers, passages, scrubber, ensureRoom),
    ...createRecords(writes, answers, passages, ensureRoom),
    ...createJobs(connections, writer, passages),
    ...createKeys(connections, writer),
    listPassages: passages.listPassages,
    getPassage: passages.getPassage,
    sweepAnswers: answers.sweepAnswers,
    findDamage: async () => (isSmall(path) ? [] : structuralFaultsAside(path)),
    version: async () => snapshot.version(),
    noteReader: writer.noteReader,
    async ping() {
      ping.get();
    },
    async fault() {
      if (wal.hasFailed()) return logUnsynced;
      if (checkpointer?.hasFailed()) return fileUnsynced;
      return writer.isDiskFull() ? diskFull : null;
    },
    async close() {
      scrubber.stop();
      try {
        await writer.drained();
      } finally {
        await checkpointer?.stop();
        if (keepsLog()) {
          leaveOpen(connections, lock);
        } else {
          closeFiles(connections, wal);
          lock?.release();
        }
      }
    },
  };
}
