import { isMainThread, workerData } from 'node:worker_threads';

/* Loaded first by each thread of a storage: in its reader threads every look at the clock takes two
 * seconds, so that work with a deadline runs out of time. */

if (!isMainThread && workerData?.maxIndexBytes !== undefined) {
  const { now } = performance;
  let aheadMs = 0;
  performance.now = () => {
    aheadMs += 2_000;
    return now.call(performance) + aheadMs;
  };
}
