import { parentPort } from 'node:worker_threads';

/*
 * Preloaded in each thread of a storage: the checkpoint thread spends every call in a system call,
 * which cannot be terminated.
 */
const blockedMs = 2_500;

parentPort?.on('message', (message: unknown) => {
  const [json] = Array.isArray(message) ? message : [''];
  if (String(json).includes('"checkpoint"')) Bun.sleepSync(blockedMs);
});
