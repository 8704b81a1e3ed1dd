import { readFileSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';

/*
 * Preloaded in each thread of a storage: the checkpoint thread spends every call in a system call,
 * which cannot be terminated.
 */
export const blockedMs = 2_500;

// The `name` option of a Worker is the name of its Linux thread.
const name = readFileSync('/proc/thread-self/comm', 'utf8').trim();
if (name === 'checkpoint') {
  parentPort?.on('message', (message: unknown) => {
    if (Array.isArray(message)) Bun.sleepSync(blockedMs);
  });
}
