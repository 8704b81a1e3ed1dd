import { isMainThread, workerData } from 'node:worker_threads';

/*
 * Preloaded in each thread of a storage. In reader threads, every read of the clock advances the
 * clock by twenty seconds, so that work with a deadline times out.
 */

if (!isMainThread && workerData?.maxIndexBytes !== undefined) {
  const { now } = performance;
  let aheadMs = 0;
  performance.now = () => {
    aheadMs += 20_000;
    return now.call(performance) + aheadMs;
  };
}
