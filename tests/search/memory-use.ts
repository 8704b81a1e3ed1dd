import { heapStats } from 'bun:jsc';
import { SearchIndex } from '../../server/search/index.ts';
import { normalize } from '../../server/search/normalize.ts';
import { parseQuery } from '../../server/search/query.ts';

/**
 * Prints what a number of search indexes report as their memory use, divided by what the heap grew
 * by. A program of its own, because the heap of a test has what other tests leave.
 * Arguments: the number of indexes, the number of memories in each.
 */
const [indexes = 1, memories = 1] = process.argv.slice(2).map(Number);

const sentence = 'The quick brown fox jumps over the lazy dog, said Ana. '.repeat(3);

function build(): SearchIndex {
  const index = new SearchIndex();
  for (let number = 0; number < memories; number += 1) {
    const id = `mem_${crypto.randomUUID()}`;
    const text = normalize(`${sentence}${number}`);
    index.put({ id, createdAt: number, chunks: [{ text, start: 0, length: text.length }] });
  }
  index.search(parseQuery('fox'));
  return index;
}

build();
Bun.gc(true);
const before = heapStats().heapSize;
const built = Array.from({ length: indexes }, build);
Bun.gc(true);
const used = heapStats().heapSize - before;
const reported = built.reduce((sum, { bytes }) => sum + bytes, 0);
console.log(reported / used);
