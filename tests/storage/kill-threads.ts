import { isMainThread, parentPort, workerData } from 'node:worker_threads';

/* Loaded first by each thread of a storage: a call that names one of these ends its thread. */

export const endsThread = 'this call ends its thread';
export const hangsThread = 'this call hangs its thread';

const isOfStorage = !isMainThread && typeof workerData?.path === 'string';
if (isOfStorage && parentPort !== null) {
  parentPort.on('message', (message: unknown) => {
    const [json] = Array.isArray(message) ? message : [''];
    if (String(json).includes(endsThread)) process.exit(7);
    while (String(json).includes(hangsThread)) Bun.sleepSync(1_000);
  });
}
