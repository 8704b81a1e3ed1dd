import { ownThread } from '../support/preloaded.ts';

/*
 * Preloaded in each thread of a storage. In reader threads, indexing a text that contains
 * `leapsClock` advances the clock by twenty seconds, so that the update of the index times out.
 */

/** Has a non-ASCII character, because ASCII text is normalized without this method. */
export const leapsClock = 'a läntern';

if (ownThread === 'reader') {
  const { normalize } = String.prototype;
  const now = performance.now.bind(performance);
  let aheadMs = 0;
  performance.now = () => now() + aheadMs;
  String.prototype.normalize = function normalizeAhead(form?: string) {
    if (this.includes(leapsClock)) aheadMs += 20_000;
    return normalize.call(this, form);
  };
}
