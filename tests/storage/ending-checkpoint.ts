import { parentPort, threadName } from 'node:worker_threads';

/* Preloaded in each thread of a storage. The first checkpoint ends the checkpoint thread. */
if (threadName === 'checkpoint') parentPort?.on('message', endAtCheckpoint);

function endAtCheckpoint(message: unknown): void {
  if (Array.isArray(message)) process.exit(7);
}
