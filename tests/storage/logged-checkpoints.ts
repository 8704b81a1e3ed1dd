import { appendFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';

/*
 * Preloaded in each thread of a storage. Appends a byte to a file next to the database whenever the
 * checkpoint thread makes a checkpoint.
 */
parentPort?.on('message', (message: unknown) => {
  const [json] = Array.isArray(message) ? message : [''];
  if (String(json).includes('"checkpoint"')) appendFileSync(`${workerData?.path}.checkpoints`, '.');
});
