import { parentPort } from 'node:worker_threads';

/*
 * Preloaded in each thread of a server. Each wake-up blocks the tasks thread in a system call,
 * because a thread in a system call cannot be terminated. Only the tasks thread receives wake-ups.
 */
const blockedMs = 2_500;

parentPort?.on('message', (message: unknown) => {
  if (message === 'wake') Bun.sleepSync(blockedMs);
});
