import { onCalls, ownThread } from '../support/preloaded.ts';

/*
 * Preloaded in each thread of a storage. A call that contains this text advances the clock of the
 * writer thread by ten minutes, which is longer than any pause between two scrubs.
 */

export const advancesClock = 'this call advances the clock of its thread';
const stepMs = 10 * 60_000;

if (ownThread === 'writer') {
  const { now } = performance;
  let aheadMs = 0;
  performance.now = () => now.call(performance) + aheadMs;
  onCalls((json) => {
    if (json.includes(advancesClock)) aheadMs += stepMs;
  });
}
