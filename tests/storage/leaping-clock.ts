import { ownThread } from '../support/preloaded.ts';

/*
 * Preloaded in each thread of a storage. In reader threads, every read of the clock advances the
 * clock by twenty seconds, so that work with a deadline times out.
 */

if (ownThread === 'reader') {
  const { now } = performance;
  let aheadMs = 0;
  performance.now = () => {
    aheadMs += 20_000;
    return now.call(performance) + aheadMs;
  };
}
