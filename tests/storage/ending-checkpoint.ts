import { existsSync, writeFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';

/*
 * Preloaded in each thread of a storage. The first checkpoint ends the checkpoint thread and leaves
 * a file next to the database. The next one leaves another file.
 */
parentPort?.on('message', (message: unknown) => {
  const [json] = Array.isArray(message) ? message : [''];
  if (!String(json).includes('"checkpoint"')) return;
  const ended = `${workerData?.path}.ended`;
  const isNext = existsSync(ended);
  writeFileSync(isNext ? `${workerData?.path}.continued` : ended, '');
  if (!isNext) process.exit(7);
});
