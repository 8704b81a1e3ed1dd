import { existsSync, rmSync } from 'node:fs';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';

/*
 * Preloaded in each thread of a server. If the file named by the environment variable exists, the
 * next wake-up for a new record removes the file and ends the tasks thread.
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
