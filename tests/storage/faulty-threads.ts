import { isMainThread, parentPort, workerData } from 'node:worker_threads';

/*
 * Preloaded in each thread of a storage. A call that contains one of these texts has the effect
 * that the text describes.
 */

export const endsThread = 'this call ends its thread';
export const breaksThread = 'this call throws in its thread';
export const hangsThread = 'this call hangs its thread';
export const slowsThread = 'this call takes its thread a while';
export const slowMs = 150;

const isOfStorage = !isMainThread && typeof workerData?.path === 'string';
if (isOfStorage && parentPort !== null) {
  parentPort.on('message', (message: unknown) => {
    const [json] = Array.isArray(message) ? message : [''];
    if (String(json).includes(endsThread)) process.exit(7);
    if (String(json).includes(breaksThread)) throw new Error('a broken thread');
    if (String(json).includes(slowsThread)) Bun.sleepSync(slowMs);
    while (String(json).includes(hangsThread)) Bun.sleepSync(1_000);
  });
}
