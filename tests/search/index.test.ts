import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type IndexedMemory, SearchIndex } from '../../server/search/index.ts';
import { normalize } from '../../server/search/normalize.ts';
import { parseQuery } from '../../server/search/query.ts';
import type { Ranked } from '../../server/search/ranked.ts';
import { referenceSearch } from './reference.ts';

const seed = Number(process.env.FC_SEED ?? 20_261_128);

/** The results without the parts of their scores, which the reference does not know. */
const resultsOf = (ranked: Ranked) =>
  [...ranked].map(({ id, start, length, score }) => ({ id, start, length, score }));

const name = fc.constantFrom('Ana', 'Ben', 'Ana B');
const oneOf = (words: string) => fc.constantFrom(...words.split(' '));
const word = fc.oneof(
  oneOf('boat boats boating ship film movie went go the green'),
  oneOf('ERR-4711 408-247-8880 4082478880 note book notebook v2.3'),
  oneOf('marathon marethon marathons marathn mara baot bo anaboat'),
  oneOf('7d41e9c 7d41e9c0 7d41e9c0b'),
  oneOf('北京 我喜欢北京 北 京都 𩸽北 𩸽 커피 กุ้ง กุ กุ้งข้าว ラーメン 👍'),
  fc.string({ unit: fc.constantFrom('a', 'b', 'o', 't', '4', '北', '京'), maxLength: 6 }),
);
const line = fc
  .tuple(fc.option(name), fc.array(word, { maxLength: 9 }))
  .map(([who, words]) => (who === null ? '' : `${who}: `) + words.join(' '));
const text = fc.array(line, { maxLength: 3 }).map((lines) => lines.join('\n'));
const sender = fc.constantFrom('user' as const, 'model' as const, null);
const day = fc.option(fc.integer({ min: -3, max: 400 }));
const part = fc.record({
  text: text.map((one) => normalize(one)),
  sender,
  day,
  isConversation: fc.boolean(),
});
const chunks = fc.array(part, { maxLength: 3 }).map((parts) => {
  return parts.map((one, at) => ({ ...one, start: at * 10, length: 10 }));
});
const id = fc.integer({ min: 0, max: 12 }).map((number) => `mem_${number}`);
const memory = fc.record({ id, createdAt: fc.integer({ min: 0, max: 5 }), chunks });
const change = fc.oneof({ weight: 4, arbitrary: memory }, { weight: 1, arbitrary: id });
const query = fc
  .tuple(
    fc.array(word, { minLength: 1, maxLength: 6 }),
    fc.constantFrom(' ', '-', ''),
    fc.constantFrom('', '?', ' ', '"'),
  )
  .map(([words, joint, mark]) => (mark === '"' ? mark : '') + words.join(joint) + mark);

type Change = IndexedMemory | string;

function apply(index: SearchIndex, indexed: Map<string, IndexedMemory>, one: Change): void {
  if (typeof one === 'string') {
    index.remove(one);
    indexed.delete(one);
  } else {
    index.put(one);
    indexed.set(one.id, one);
  }
}

describe('search index', () => {
  test('ranks like a full scan after any inserts and removals', () => {
    const agrees = fc.property(
      fc.array(fc.tuple(change, fc.option(query)), { minLength: 1, maxLength: 30 }),
      query,
      (steps, last) => {
        let index = new SearchIndex(seed);
        const indexed = new Map<string, IndexedMemory>();
        for (const [one, asked] of [...steps, ['none', last] as const]) {
          apply(index, indexed, one);
          if (asked === null) continue;
          if (indexed.size % 3 === 1) index = SearchIndex.fromBytes(index.toBytes());
          const found = resultsOf(index.search(parseQuery(asked)));
          expect(found).toEqual(referenceSearch([...indexed.values()], parseQuery(asked)));
        }
        const ids = Array.from({ length: index.size }, (_, at) => index.idAt(at));
        expect(ids.sort()).toEqual([...indexed.keys()].sort());
        expect(index.size).toBe(indexed.size);
      },
    );
    fc.assert(agrees, { seed, numRuns: 100 });
  });

  test('orders memories by time and id, not by arrival', () => {
    const unique = fc.uniqueArray(memory, { selector: (one) => one.id, minLength: 2 });
    const shuffled = unique.chain((all) => {
      return fc.tuple(fc.shuffledSubarray(all, { minLength: all.length }), fc.constant(all));
    });
    fc.assert(
      fc.property(shuffled, query, ([left, right], asked) => {
        const [a, b] = [indexOf(left), indexOf(right)];
        expect([...a.search(parseQuery(asked))]).toEqual([...b.search(parseQuery(asked))]);
      }),
      { seed },
    );
  });

  test.each([
    ['"green tea"', ['a green', 'tea', 'green tea']],
    ['ก กุ', ['กุ้ง', 'กาง', 'กุ้งกาง']],
    ['กุ ก', ['กุ้ง', 'กาง', 'กุ้งกาง']],
  ])('ranks %s like a full scan, in one memory and in several memories', (asked, texts) => {
    const apart = memoriesOf(texts);
    const together = [{ id: 'a', createdAt: 1, chunks: texts.map(chunkOf) }];
    for (const memories of [together, apart]) {
      const found = resultsOf(indexOf(memories).search(parseQuery(asked)));
      expect(found).toEqual(referenceSearch(memories, parseQuery(asked)));
    }
  });

  test('includes the words in its memory use', () => {
    const letters = (number: number) => Bun.hash(`${number}`).toString(36).replace(/\d/g, 'x');
    const texts = Array.from({ length: 3_000 }, (_, number) => letters(number));
    const bytesOf = (all: string[]) => indexOf(memoriesOf(all)).bytes;
    const inWords = texts.reduce((sum, { length }) => sum + 2 * length, 0);
    const least = bytesOf(texts.map(() => texts[0] ?? ''));
    expect(bytesOf(texts) - least).toBeGreaterThan(inWords);
  });

  test.each(['60 400 3', '4 5000 3', '500 10 3', '20 400 12 restored', '4 5000 12 restored'])(
    'reports its memory use: %s',
    (args) => {
      const program = new URL('memory-use.ts', import.meta.url).pathname;
      const run = Bun.spawnSync([process.execPath, program, ...args.split(' ')]);
      const ratio = Number(run.stdout);
      expect(ratio).toBeGreaterThan(0.8);
      expect(ratio).toBeLessThan(1.25);
    },
  );

  test('frees memory when most memories are removed or replaced', () => {
    const index = new SearchIndex();
    const chunksOf = (number: number) => [chunkOf(normalize(`Ana: number ${number}, `.repeat(20)))];
    const put = (number: number) => {
      const memory = { id: `${number % 2_000}`, createdAt: number % 7, chunks: chunksOf(number) };
      index.put(memory);
      return memory;
    };
    for (let number = 0; number < 2_000; number += 1) put(number);
    const { bytes } = index;
    const indexed = Array.from({ length: 10_000 }, (_, number) => put(number)).slice(-2_000);
    expect(index.bytes).toBeLessThan(4 * bytes);
    for (const { id } of indexed.slice(0, 1_900)) index.remove(id);
    expect(index.bytes).toBeLessThan(bytes / 2);
    for (const asked of ['number 9950', 'ana', 'nubmer', '995']) {
      const found = resultsOf(index.search(parseQuery(asked)));
      expect(found).toEqual(resultsOf(indexOf(indexed.slice(1_900)).search(parseQuery(asked))));
      expect(found.length).toBeGreaterThan(0);
    }
  });

  test.each(['adding', 'removing'])(
    'takes about as long for %s old memories as new ones',
    (what) => {
      const oldestFirst = Array.from({ length: 100_000 }, (_, number) => number);
      const newestFirst = oldestFirst.toReversed();
      const put = (index: SearchIndex, number: number) =>
        index.put({ id: `mem_${number}`, createdAt: number, chunks: [] });
      const timeOf = (order: number[]) => {
        const index = new SearchIndex();
        if (what === 'removing') for (const number of oldestFirst) put(index, number);
        const begun = process.cpuUsage();
        if (what === 'adding') for (const number of order) put(index, number);
        else for (const number of order.slice(0, 50_000)) index.remove(`mem_${number}`);
        index.search(parseQuery('tea'));
        return process.cpuUsage(begun).user;
      };
      const leastOf = (order: number[]) => Math.min(...[1, 2].map(() => timeOf(order)));
      const [oldest, newest] = [leastOf(oldestFirst), leastOf(newestFirst)];
      expect(Math.max(oldest, newest) / Math.min(oldest, newest)).toBeLessThan(4);
    },
  );

  test('rejects reading the results of a search that ran before the last change', () => {
    const index = indexOf(memoriesOf(['tea']));
    const ranked = index.search(parseQuery('tea'));
    index.remove('0');
    expect(() => [...ranked]).toThrow('changed');
  });

  test('finds a word after a compaction and the removal of another memory with the word', () => {
    const texts = ['zeppelin', 'zeppelin', 'word '.repeat(20_000).trim()];
    const index = indexOf(memoriesOf(texts));
    // The removal of most words compacts the index.
    index.remove('2');
    index.remove('0');
    expect(idsOf(index, 'zeppelin?')).toEqual(['1']);
  });

  test('ranks a quotation of 48 words like a full scan', () => {
    const words = Array.from({ length: 48 }, (_, number) => `${1_000 + number}`);
    const parts = [words, words.slice(0, 10), words.slice(30), words.slice(40)];
    const memories = memoriesOf(parts.map((part) => part.join(' ')));
    const query = parseQuery(`"${words.join(' ')}"`);
    expect(query.pairs).toHaveLength(47);
    expect(resultsOf(indexOf(memories).search(query))).toEqual(referenceSearch(memories, query));
  });

  test('distinguishes words with the same hash', () => {
    // The hashes of these words are equal if the seed is 0.
    const index = indexOf(memoriesOf(['518396207280', '591493150297']));
    expect(idsOf(index, '591493150297?')).toEqual(['1']);
  });

  test('stores memories without chunks, frees those that are removed, and finds none', () => {
    const index = new SearchIndex();
    for (let createdAt = 0; createdAt < 100_000; createdAt += 1) {
      index.put({ id: 'a', createdAt, chunks: [] });
    }
    expect(index.size).toBe(1);
    expect(index.bytes).toBeLessThan(10_000_000);
    expect(idsOf(index, 'a')).toEqual([]);
  });
});

function chunkOf(content: string) {
  return { start: 0, length: content.length, text: content };
}

/** A memory for each text, oldest first, whose id is the number of the text. */
function memoriesOf(texts: string[]): IndexedMemory[] {
  return texts.map((text, at) => ({ id: `${at}`, createdAt: at, chunks: [chunkOf(text)] }));
}

function idsOf(index: SearchIndex, query: string): string[] {
  return [...index.search(parseQuery(query))].map(({ id }) => id);
}

function indexOf(memories: IndexedMemory[]): SearchIndex {
  const index = new SearchIndex();
  for (const one of memories) index.put(one);
  return index;
}
