import fs from 'node:fs';
import { jsonLine } from '../log.ts';
import { connectStorage } from '../storage/open.ts';
import type { StorageConnection } from '../storage/types/memories.ts';
import {
  parent,
  reportProgress,
  startData,
  watched,
  watchHttpThread,
  yieldPriority,
} from '../threads/serve.ts';
import { handlers } from './handlers.ts';
import { startWorker } from './worker.ts';

/**
 * The tasks thread runs the queue's worker with a separate connection to the storage, so a slow
 * handler delays only the queue.
 */

export type TasksStart = {
  connection: StorageConnection['data'];
  /** After how long a hanging HTTP thread ends the process, or null for never. */
  httpHungAfterMs: number | null;
};

/** Limits the messages of a busy loop, which makes progress thousands of times per second. */
const minReportIntervalMs = 1_000;

const { connection, httpHungAfterMs, log, logLevel } = await startData<TasksStart>();
const storage = await connectStorage(connection);
/** How long to wait until the last line of the log has been written. */
const lastLineMs = 1_000;
let reportedAt = Number.NEGATIVE_INFINITY;
const worker = startWorker({
  storage,
  handlers,
  owner: crypto.randomUUID(),
  now: Date.now,
  log,
  progress,
});
function progress(): void {
  reportProgress();
  const now = performance.now();
  if (now - reportedAt < minReportIntervalMs) return;
  reportedAt = now;
  parent.postMessage('moved');
}

/** Kills the process, because the HTTP thread can neither handle a signal nor write its log. */
function endProcess(): void {
  const message = 'the HTTP thread does not respond; the service is exiting';
  const line = jsonLine({ at: Date.now(), level: 'error', message, fields: {} });
  const kill = () => process.kill(process.pid, 'SIGKILL');
  // A disk that hangs must not keep the process alive. A full pipe is an error at once.
  // mutate-ignore removal: no disk of a test hangs
  setTimeout(kill, lastLineMs);
  if (logLevel !== 'silent') fs.write(2, `${line}\n`, kill);
}

yieldPriority();
if (httpHungAfterMs !== null) watchHttpThread(httpHungAfterMs, endProcess);
parent.listen((message) => {
  if (message === 'wake') worker.wake();
});
watched(async () => {
  await worker.stop();
  await storage.close();
});
