import { Database } from 'bun:sqlite';
import { fdatasyncSync, openSync, statSync } from 'node:fs';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { isSyncFault } from './faults.ts';

/*
 * A checkpoint writes the log's pages into the file and waits for the disk. Left to SQLite, it
 * happens inside somebody's commit, and everybody waits. Here a thread of its own does it beside
 * the writer. Under constant writes it never catches up entirely, so the log would only grow. When
 * it has become long, the thread first brings the file to the disk as it is; then writes wait for
 * one checkpoint, which finds little left to do, and the log begins anew. Reads never wait.
 *
 * After a sync of the file that failed, the system may take for written what it could not write,
 * and the next sync would mean nothing. Then no checkpoint is made any more: the log has it all,
 * and is kept for the next start, which writes it into the file once more.
 */

export type Checkpointer = {
  /** Said after each group of writes. Where a promise comes back, the next group is to await it. */
  committed(): Promise<void> | undefined;
  /** Whether the file may lack what only the log has. */
  hasFailed(): boolean;
  /** Resolves once the thread has closed the file. */
  stop(): Promise<void>;
};

const lookEveryMs = 50;
/** Pages worth a checkpoint. The more, the oftener the same one is among them. */
const leastPages = 4_000;
/** 32 MB: from here on the log is being shortened, */
const mostPages = 8_000;
/** and from here on, 64 MB, writes wait for that. */
const farTooManyPages = 16_000;
/** A log that a long read, a backup's, let grow beyond this is given back to the file system. */
const largestLogBytes = 64 * 1024 * 1024;

type Log = { log: number; checkpointed: number };
type Task = 'checkpoint' | 'checkpoint and sync' | 'stop';
type Outcome = 'done' | 'not synced';

export function createCheckpointer(db: Database, path: string): Checkpointer {
  // Looks, and does nothing.
  const look = db.prepare<Log, []>('PRAGMA wal_checkpoint(NOOP)');
  const checkpoint = db.prepare('PRAGMA wal_checkpoint(PASSIVE)');
  let thread: Worker | null = null;
  let running: PromiseWithResolvers<void> | null = null;
  let lookedAt = performance.now();
  let isLittleLeft = false;
  let failed = false;
  let stopped = false;

  function done(outcome: Outcome): void {
    failed ||= outcome === 'not synced';
    running?.resolve();
    running = null;
  }

  function start(): Worker {
    const started = new Worker(new URL(import.meta.url), { workerData: { loggedPath: path } });
    started.unref();
    started.on('message', done);
    started.once('error', () => {
      // It ends by it.
    });
    started.once('exit', () => {
      thread = null;
      if (running !== null) checkpointHere();
    });
    return started;
  }

  /** The thread could not: everybody waits. */
  function checkpointHere(): void {
    done(outcomeOf(() => checkpoint.all()));
  }

  /** Resolves when the thread has done what it could. */
  async function run(task: Task): Promise<void> {
    if (stopped) return;
    running = Promise.withResolvers<void>();
    const { promise } = running;
    try {
      thread ??= start();
      thread.postMessage(task);
    } catch {
      checkpointHere();
    }
    return promise;
  }

  function lookAtLog(): Log {
    try {
      return look.get() ?? { log: 0, checkpointed: 0 };
    } catch {
      // The disk's fault; the next commit will meet it too, and say so.
      return { log: 0, checkpointed: 0 };
    }
  }

  async function shorten(): Promise<void> {
    await run('checkpoint and sync');
    isLittleLeft = !failed;
  }

  return {
    committed() {
      if (failed) return;
      if (isLittleLeft) {
        isLittleLeft = false;
        return run('checkpoint');
      }
      const now = performance.now();
      if (now - lookedAt < lookEveryMs) return;
      lookedAt = now;
      const { log, checkpointed } = lookAtLog();
      if (running !== null) return log < farTooManyPages ? undefined : running.promise;
      if (log >= mostPages && log > checkpointed) void shorten();
      else if (log - checkpointed >= leastPages) void run('checkpoint');
      return;
    },
    hasFailed: () => failed,
    async stop() {
      stopped = true;
      if (thread === null) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      thread.ref();
      thread.once('exit', () => resolve());
      thread.postMessage('stop' satisfies Task);
      await promise;
    },
  };
}

/** Of other faults the log is kept as well, and a later checkpoint goes on where this one ended. */
function outcomeOf(work: () => void): Outcome {
  try {
    work();
    return 'done';
  } catch (error) {
    return isSyncFault(error) ? 'not synced' : 'done';
  }
}

if (!isMainThread && typeof workerData?.loggedPath === 'string') {
  const path: string = workerData.loggedPath;
  const db = new Database(path);
  db.run('PRAGMA synchronous = FULL');
  const checkpoint = db.prepare<Log, []>('PRAGMA wal_checkpoint(PASSIVE)');
  const empty = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)');
  const isTooLarge = () => statSync(`${path}-wal`).size > largestLogBytes;
  // Opened before anything is written, because it hears only of later faults, and never closed:
  // with any descriptor of the file a process would lose the locks that it holds on it.
  let file: number | null = null;
  const makeCheckpoint = (sync: boolean) => {
    file ??= openSync(path, 'r');
    const log = checkpoint.get();
    if (sync) fdatasyncSync(file);
    if (log?.log === log?.checkpointed && isTooLarge()) empty.all();
  };
  parentPort?.on('message', (task: Task) => {
    if (task === 'stop') {
      db.close(true);
      parentPort?.close();
      return;
    }
    const outcome = outcomeOf(() => makeCheckpoint(task === 'checkpoint and sync'));
    parentPort?.postMessage(outcome satisfies Outcome);
  });
}
