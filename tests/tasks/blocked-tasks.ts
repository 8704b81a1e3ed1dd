import { readFileSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';

/*
 * Preloaded in each thread of a server: accepted work sends the tasks thread into a system call,
 * which cannot be terminated.
 */
export const blockedMs = 2_500;

const name = readFileSync('/proc/thread-self/comm', 'utf8').trim();
if (name === 'tasks') {
  parentPort?.on('message', (message: unknown) => {
    if (message === 'wake') Bun.sleepSync(blockedMs);
  });
}
