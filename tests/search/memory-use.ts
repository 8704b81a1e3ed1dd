import { heapStats } from 'bun:jsc';
import { normalize } from '../../server/search/normalize.ts';
import { parseQuery } from '../../server/search/query.ts';
import { CachedIndex } from '../../server/storage/index-cache.ts';

/**
 * Prints what a number of search indexes report as their memory use, divided by what the heap grew
 * by. A program of its own, because the heap of a test has what other tests leave.
 * Arguments: the number of indexes, of memories in each, and of sentences in each memory;
 * `restored` if the index is stored and restored before its last memory is added.
 */
const [indexes = 1, memories = 1, sentences = 1] = process.argv.slice(2).map(Number);
const isRestored = process.argv.includes('restored');

const sentence = 'The quick brown fox jumps over the lazy dog, said Ana. ';
const text = normalize(sentence.repeat(sentences));

function build(): CachedIndex {
  const cached = new CachedIndex();
  for (let number = 0; number < memories; number += 1) {
    if (isRestored && number === memories - 1) cached.restore(cached.index.toBytes(), 1);
    const id = `mem_${crypto.randomUUID()}`;
    const own = `${text} ${number}`;
    cached.index.put({
      id,
      createdAt: number,
      chunks: [{ text: own, start: 0, length: own.length }],
    });
  }
  cached.index.search(parseQuery('fox'));
  return cached;
}

build();
Bun.gc(true);
const before = heapStats().heapSize;
const built = Array.from({ length: indexes }, build);
Bun.gc(true);
const used = heapStats().heapSize - before;
const reported = built.reduce((sum, { bytes }) => sum + bytes, 0);
console.log(reported / used);
