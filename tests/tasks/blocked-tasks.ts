import { parentPort } from 'node:worker_threads';

/*
 * Preloaded in each thread of a server: accepted work sends the tasks thread into a system call,
 * which cannot be terminated. Only that thread is woken.
 */
const blockedMs = 2_500;

parentPort?.on('message', (message: unknown) => {
  if (message === 'wake') Bun.sleepSync(blockedMs);
});
