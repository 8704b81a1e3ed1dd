import { onCalls, ownThread } from '../support/preloaded.ts';

/*
 * Preloaded in each thread of a storage. Calls that contain these texts advance the clock of the
 * writer thread by ten minutes, which is longer than any pause between two scrubs, or stop it.
 */

export const advancesClock = 'this call advances the clock of its thread';
export const stopsClock = 'this call stops the clock of its thread';
const stepMs = 10 * 60_000;

if (ownThread === 'writer') {
  const now = performance.now.bind(performance);
  let aheadMs = 0;
  let stoppedAt: number | null = null;
  performance.now = () => (stoppedAt ?? now()) + aheadMs;
  onCalls((json) => {
    if (json.includes(advancesClock)) aheadMs += stepMs;
    if (json.includes(stopsClock)) stoppedAt = now();
  });
}
