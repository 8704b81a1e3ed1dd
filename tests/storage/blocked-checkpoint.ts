import { parentPort } from 'node:worker_threads';

/*
 * Preloaded in each thread of a storage. Blocks the checkpoint thread in a system call on every
 * checkpoint, because a thread in a system call cannot be terminated.
 */
const blockedMs = 2_500;

parentPort?.on('message', (message: unknown) => {
  const [json] = Array.isArray(message) ? message : [''];
  if (String(json).includes('"checkpoint"')) Bun.sleepSync(blockedMs);
});
