import { existsSync, writeFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';

/*
 * Preloaded in each thread of a storage. Stops the writer before it finishes a checkpoint, until
 * the test removes a file next to the database.
 */
const maxMs = 60_000;

parentPort?.on('message', (message: unknown) => {
  const [json] = Array.isArray(message) ? message : [''];
  if (!String(json).includes('"finishCheckpoint"')) return;
  const finishing = `${workerData?.path}.finishing`;
  writeFileSync(finishing, '');
  const begun = performance.now();
  while (existsSync(finishing) && performance.now() - begun < maxMs) Bun.sleepSync(10);
});
