import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { createVectorScan, packVector } from '../../server/embeddings/vector.ts';
import { indexedChunks } from '../../server/memory/chunks.ts';
import { SearchIndex } from '../../server/search/index.ts';
import type { Meaning } from '../../server/search/meaning.ts';
import { parseQuery } from '../../server/search/query.ts';
import { VectorTable } from '../../server/search/vector-table.ts';
import { searchWeights } from '../../server/search/weights.ts';

const dims = 8;
const now = Date.parse('2023-10-04');
const kernel = join(import.meta.dir, '../../server/embeddings/kernel.wasm');
const scan = createVectorScan(new Uint8Array(readFileSync(kernel)), dims);

/** A vector of length 1 at this angle, in degrees, to the question's. */
function at(degrees: number): Float32Array {
  const vector = new Float32Array(dims);
  vector.set([Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)]);
  return vector;
}

const chunkOf = (text: string) => ({ start: 0, length: text.length, text, isReply: false });

/** Memories by their texts, oldest first, with the angles of their vectors; null for no vector. */
function open(memories: Record<string, number | null>) {
  const index = new SearchIndex();
  const table = new VectorTable(dims);
  for (const [ordinal, [text, degrees]] of Object.entries(memories).entries()) {
    const id = `${ordinal}`;
    index.put({ id, createdAt: ordinal, chunks: [chunkOf(text)] });
    if (degrees !== null) table.put(id, 1, packVector(at(degrees)));
  }
  const meaning: Meaning = {
    vector: at(0),
    table,
    scan,
    mean: 0.05,
    deviation: 0.08,
    fluency: 1,
    alone: false,
  };
  const search = (query: string, more: Partial<Meaning> = {}) => [
    ...index.search(parseQuery(query, now), searchWeights, { ...meaning, ...more }),
  ];
  return { index, table, search };
}

describe('a search by words and meaning', () => {
  test('finds a memory without a common word, after one that has all of them', () => {
    const { search } = open({
      'allergic to peanuts': 40,
      'the red bicycle': 88,
      'what food she likes': 60,
    });
    const found = search('food she likes');
    expect(found.map(({ id, isMeant }) => [id, isMeant])).toEqual([
      ['2', true],
      ['0', true],
    ]);
    for (const { score, parts } of found) {
      expect(score).toBeCloseTo(parts.words + parts.phrase + parts.meaning, 12);
    }
    expect(found[1]?.parts.words).toBe(0);
  });

  test('does not lift a chance hit of one word above the meant memory', () => {
    const { search } = open({ 'allergic to peanuts': 30, 'a meeting about food prices': 85 });
    expect(search('what food must never be cooked for her?')[0]?.id).toBe('0');
  });

  test('does not lift chance hits of half of the words above the meant memory', () => {
    const { search } = open({
      'all food is cooked at noon': 80,
      'allergic to peanuts': 65,
      'the food was cooked by the mayor': 80,
      'the choir meets on Mondays': 85,
    });
    expect(search('what food must never be cooked for her?')[0]?.id).toBe('1');
  });

  test('keeps the order of a store without replies if the query asks for a reply', () => {
    const { search } = open({
      'the cooked food was cold': 80,
      'allergic to peanuts': 55,
      'the choir meets on Mondays': 78,
    });
    const found = search('mention the cooked food');
    expect(found).toHaveLength(3);
    const asked = search('did you mention the cooked food');
    const { notReply } = searchWeights;
    expect(asked.map(({ id }) => id)).toEqual(found.map(({ id }) => id));
    for (const [at, { score }] of asked.entries()) {
      expect(score).toBeCloseTo(notReply * (found[at]?.score ?? 0), 9);
    }
  });

  test('counts the meaning less, the less the model knows of the language', () => {
    const { search } = open({
      'allergic to peanuts': 40,
      'the cooked food was cold': 80,
      'the choir meets on Mondays': 85,
    });
    const query = 'which cooked food could make her ill?';
    const first = (fluency: number) => search(query, { fluency })[0]?.id;
    expect([first(1), first(0.2)]).toEqual(['0', '1']);
    const meaningAt = (fluency: number) =>
      search(query, { fluency }).find(({ id }) => id === '0')?.parts.meaning;
    expect(meaningAt(0.2)).toBeCloseTo((meaningAt(1) ?? 0) / 5, 12);
    expect(search('acara', { fluency: 0.1 })[0]).toMatchObject({ id: '0', isMeant: true });
  });

  /** Memories that are added as saved, with labels that name speakers. */
  function openLabelled() {
    const { index, table, search } = open({});
    const add = (id: string, text: string, degrees: number) => {
      index.put({ id, createdAt: index.size, chunks: indexedChunks(text, '{}') });
      table.put(id, 1, packVector(at(degrees)));
    };
    return { add, search };
  }

  test('finds a labelled fact with all words before a note with some of them', () => {
    const { add, search } = openLabelled();
    add('fact', 'Coffee order: oat flat white', 70);
    add('note', 'he got my order wrong, and the coffee was cold', 55);
    add('other', 'the choir meets on Mondays', 85);
    expect(search('coffee order')[0]?.id).toBe('fact');
  });

  test('finds a turn of a conversation by some of the words, but not a note about a topic', () => {
    const { add, search } = openLabelled();
    add('labelled', 'Ben: the choir cooked', 76);
    add('other', 'the choir ate', 75);
    const question = 'what food must never be cooked for Ana?';
    expect(search(question)[0]?.id).toBe('other');
    for (const text of ['Ben: hello', 'Ben: it rains']) add(text, text, 85);
    expect(search(question)[0]?.id).toBe('labelled');
  });

  test('takes the labels of a conversation for speakers, however few chunks begin with them', () => {
    const { add, search } = openLabelled();
    add('talk', 'Ben: hello\nAna: it rains\nBen: the choir cooked\nAna: so I hear', 76);
    add('other', 'the choir ate', 75);
    expect(search('what food must never be cooked for Eve?')[0]?.id).toBe('talk');
  });

  test('takes a label between two turns of one speaker for a speaker', () => {
    const { add, search } = openLabelled();
    add('other', 'the choir ate', 75);
    for (const text of ['Me: hello', 'Me: what then?']) add(text, text, 85);
    add('answer', 'Ben: the choir cooked', 76);
    const question = 'what food must never be cooked for Eve?';
    expect(search(question)[0]?.id).toBe('other');
    add('next', 'Me: it rains', 85);
    expect(search(question)[0]?.id).toBe('answer');
  });

  test('finds the memories of a date alone, but not by meaning alone', () => {
    const { index, search } = open({ rain: 10 });
    const day = Date.parse('2023-05-08') / 86_400_000;
    index.put({ id: 'dated', createdAt: 9, chunks: [{ ...chunkOf('snow'), day }] });
    const found = (more: Partial<Meaning>) => search('2023-05-08', more).map(({ id }) => id);
    expect(found({})).toEqual(['dated', '0']);
    expect(found({ alone: true })).toEqual(['0']);
  });

  test('counts the meaning alone if it is asked to', () => {
    const { search } = open({ 'peanuts peanuts': 80, allergic: 10 });
    const found = search('peanuts', { alone: true });
    expect(found.map(({ id, parts }) => [id, parts.words])).toEqual([
      ['1', 0],
      ['0', 0],
    ]);
  });

  test('finds memories without vectors by their words', () => {
    const { search } = open({ 'allergic to peanuts': null, 'likes walnuts': 20 });
    expect(search('peanuts').map(({ id, isMeant }) => [id, isMeant])).toEqual([
      ['0', false],
      ['1', true],
    ]);
  });

  test('uses the vectors of each chunk, and those of the present text', () => {
    const { index, table, search } = open({ first: 80 });
    const chunks = ['one', 'two', 'three'].map((text, ordinal) => ({
      ...chunkOf(text),
      start: ordinal * 10,
    }));
    index.put({ id: 'long', createdAt: 9, chunks });
    const parts = [at(80), new Float32Array(dims), at(5)].map(packVector);
    table.put('long', 2, Buffer.concat(parts));
    expect(search('nothing')[0]).toMatchObject({ id: 'long', start: 20 });
    table.removeOlder('long', 2);
    expect(search('nothing')[0]).toMatchObject({ id: 'long' });
    table.removeOlder('long', 3);
    expect(search('nothing').map(({ id }) => id)).not.toContain('long');
  });

  test('is a search by words alone without a question vector', () => {
    const { index } = open({ 'allergic to peanuts': 10, peanuts: 50 });
    const found = [...index.search(parseQuery('peanuts'))];
    expect(found.map(({ parts }) => parts.meaning)).toEqual([0, 0]);
    expect(found.map(({ score, parts }) => score - parts.words)).toEqual([0, 0]);
  });
});

test('a table of vectors holds what was put last, whatever was removed before', () => {
  const steps = fc.array(
    fc.record({ id: fc.integer({ min: 0, max: 9 }), count: fc.integer({ min: -2, max: 4 }) }),
    { maxLength: 3_000, size: 'max' },
  );
  const check = fc.property(steps, (list) => {
    const table = new VectorTable(dims);
    const expected = new Map<string, number>();
    for (const [step, { id, count }] of list.entries()) {
      if (count === -2) {
        // Restores some of the vectors from their stored form.
        const some = [...expected.keys()].slice(id % 3);
        const stored = table.toColumns(some);
        for (const one of some) table.remove(one);
        if (some.length > 0) table.putColumns(stored);
        continue;
      }
      if (count === -1) {
        table.remove(`${id}`);
        expected.delete(`${id}`);
        continue;
      }
      const angle = step % 360;
      table.put(`${id}`, step, Buffer.concat(Array(count).fill(packVector(at(angle)))));
      expected.set(`${id}`, count === 0 ? Number.NaN : angle);
    }
    expect(table.size).toBe(expected.size);
    const products = scan.dotProducts(at(0), table.blocks);
    for (const [id, angle] of expected) {
      const row = table.rowOf(id, 0);
      if (Number.isNaN(angle)) expect(row).toBe(-1);
      else expect(products[row]).toBeCloseTo(Math.cos((angle * Math.PI) / 180), 1);
    }
  });
  fc.assert(check, { numRuns: 30 });
});
