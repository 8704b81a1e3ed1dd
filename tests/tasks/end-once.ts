import { existsSync, rmSync } from 'node:fs';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';

/*
 * Preloaded in each thread of a server: ends the tasks thread when it is woken for a new record,
 * once each time the file exists.
 */

export const endFileVariable = 'TEST_END_TASKS_THREAD';

const endFile = process.env[endFileVariable] ?? '';
if (!isMainThread && workerData?.connection !== undefined) {
  parentPort?.on('message', (message: unknown) => {
    if (message !== 'wake' || !existsSync(endFile)) return;
    rmSync(endFile);
    process.exit(7);
  });
}
