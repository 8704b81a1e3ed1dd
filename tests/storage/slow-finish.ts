import { rmSync, writeFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';

/*
 * Preloaded in each thread of a storage. Delays the writer before it finishes a checkpoint. Until
 * the delay ends, a file next to the database exists.
 */
const finishMs = 1_200;

parentPort?.on('message', (message: unknown) => {
  const [json] = Array.isArray(message) ? message : [''];
  if (!String(json).includes('"finishCheckpoint"')) return;
  const finishing = `${workerData?.path}.finishing`;
  writeFileSync(finishing, '');
  Bun.sleepSync(finishMs);
  rmSync(finishing);
});
