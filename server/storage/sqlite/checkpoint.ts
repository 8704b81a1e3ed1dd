import { Database } from 'bun:sqlite';
import { statSync } from 'node:fs';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

/*
 * A checkpoint writes the log's pages into the file and waits for the disk. Left to SQLite, it
 * happens inside somebody's commit, and everybody waits. Here a thread of its own does it beside
 * the writer. Under constant writes it never catches up entirely, so the log would only grow:
 * SQLite's own checkpoint remains, at a longer log, and finds little left to do.
 */

export type Checkpointer = {
  /** Said after each commit; now and then it has the thread look at the log. */
  committed(): void;
  /** Resolves once the thread has closed the file. */
  stop(): Promise<void>;
};

const lookEveryMs = 50;
/** A shorter log is not worth a thread: about what SQLite by itself lets come together. */
const leastLogBytes = 4 * 1024 * 1024;
/** Pages worth a checkpoint. */
const leastPages = 1_000;

export function createCheckpointer(path: string): Checkpointer {
  let thread: Worker | null = null;
  let lookedAt = performance.now();

  function start(): Worker {
    const started = new Worker(new URL(import.meta.url), { workerData: { loggedPath: path } });
    started.unref();
    started.once('error', () => {
      // Another thread is started after a later commit.
    });
    started.once('exit', () => {
      thread = null;
    });
    return started;
  }

  return {
    committed() {
      const now = performance.now();
      if (now - lookedAt < lookEveryMs) return;
      lookedAt = now;
      try {
        if (thread === null && statSync(`${path}-wal`).size < leastLogBytes) return;
        thread ??= start();
        thread.postMessage('look');
      } catch {
        // No thread can be had now: SQLite's own checkpoint does the work.
      }
    },
    async stop() {
      if (thread === null) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      thread.ref();
      thread.once('exit', () => resolve());
      thread.postMessage('stop');
      await promise;
    },
  };
}

if (!isMainThread && typeof workerData?.loggedPath === 'string') {
  const db = new Database(workerData.loggedPath);
  db.run('PRAGMA synchronous = FULL');
  type Counts = { log: number; checkpointed: number };
  const look = db.prepare<Counts, []>('PRAGMA wal_checkpoint(NOOP)');
  const checkpoint = db.prepare('PRAGMA wal_checkpoint(PASSIVE)');
  parentPort?.on('message', (message) => {
    if (message === 'stop') {
      db.close(true);
      parentPort?.close();
      return;
    }
    const { log = 0, checkpointed = 0 } = look.get() ?? {};
    if (log - checkpointed >= leastPages) checkpoint.all();
  });
}
