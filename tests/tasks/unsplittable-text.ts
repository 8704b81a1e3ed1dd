import { ownThread } from '../support/preloaded.ts';

/*
 * Preloaded in each thread of a server. In the tasks thread, a text of more than one chunk cannot
 * be split if it contains this string.
 */

export const unsplittable = 'this text cannot be split';

if (ownThread === 'tasks') {
  const { matchAll } = String.prototype;
  String.prototype.matchAll = function matchAllFaulty(pattern) {
    if (this.includes(unsplittable)) throw new Error('the split failed');
    return matchAll.call(this, pattern);
  };
}
