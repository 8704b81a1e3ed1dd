import { existsSync, writeFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';

/*
 * Preloaded in each thread of a storage. The first checkpoint ends the checkpoint thread and leaves
 * a file next to the database.
 */
parentPort?.on('message', (message: unknown) => {
  const [json] = Array.isArray(message) ? message : [''];
  const mark = `${workerData?.path}.ended`;
  if (!String(json).includes('"checkpoint"') || existsSync(mark)) return;
  writeFileSync(mark, '');
  process.exit(7);
});
