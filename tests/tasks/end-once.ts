import { existsSync, rmSync } from 'node:fs';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';

/* Loaded first by each thread of a server: its tasks thread ends once for each time that the file
 * is there, when it hears of a new record. */

export const endFileVariable = 'TEST_END_TASKS_THREAD';

const endFile = process.env[endFileVariable] ?? '';
if (!isMainThread && workerData?.connection !== undefined) {
  parentPort?.on('message', (message: unknown) => {
    if (message !== 'wake' || !existsSync(endFile)) return;
    rmSync(endFile);
    process.exit(7);
  });
}
