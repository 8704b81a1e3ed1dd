import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { indexedChunks } from '../../server/memory/chunks.ts';
import { SearchIndex } from '../../server/search/index.ts';
import { normalize } from '../../server/search/normalize.ts';
import { parseQuery } from '../../server/search/query.ts';
import type { Ranked, RankedMemory } from '../../server/search/ranked.ts';
import { snippet } from '../../server/search/snippet.ts';
import { marked } from '../support/marked.ts';
import { cases, corpus } from './cases.ts';

const names = Object.keys(corpus);
const word = fc.constantFrom(...'oslo tea café ERR-4711 北京 running Ana: 👍 "'.split(' '));
const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.array(word).map((all) => all.join(' ')),
);

describe('search finds', () => {
  test.each(cases)('$kind: $query', ({ query, first, among, none, mark }) => {
    const { found, ranked } = ask(query, Object.values(corpus));
    const order = found.map(({ id }) => names[Number(id)] ?? '');
    if (none) expect(order).toEqual([]);
    if (first !== undefined) expect(order[0]).toBe(first);
    for (const name of among ?? []) expect(order.slice(0, 3)).toContain(name);
    if (mark === undefined) return;
    expect(marked(snippet(corpus[order[0] ?? ''] ?? '', ranked))).toContain(mark);
  });

  test('the synonyms of all senses of a word', () => {
    const { found } = ask('love', ['Enjoys chess', 'Prefers tea', 'Has a cat']);
    expect(found.map(({ id }) => Number(id)).sort()).toEqual([0, 1]);
  });

  test('only the first eight mistyped words of a query', () => {
    const words =
      'apricot balloon cathedral dolphin elephant furnace giraffe harbour icicles'.split(' ');
    const query = words.map((word) => `${word}q`).join(' ');
    const ids = ask(`${query}?`, words).found.map(({ id }) => Number(id));
    expect(ids.sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });
});

describe('search', () => {
  test('ranks the newest of equal memories first, whatever other memories exist', () => {
    fc.assert(
      fc.property(
        fc.array(text, { maxLength: 6 }),
        fc.integer({ min: 2, max: 4 }),
        (other, copies) => {
          const same = Array.from({ length: copies }, () => 'Keeps a zeppelin');
          const { found } = ask('zeppelin', [...other, ...same]);
          const order = found.map(({ id }) => Number(id)).slice(0, copies);
          expect(order).toEqual(same.map((_, index) => other.length + copies - 1 - index));
        },
      ),
    );
  });

  test('finds any word of any memory, and answers any query, with finite, descending scores', () => {
    fc.assert(
      fc.property(fc.array(text, { minLength: 1 }), fc.nat(), text, (texts, pick, query) => {
        const memory = pick % texts.length;
        const words = normalize(texts[memory] ?? '').match(/[^\s:]+/g) ?? [];
        for (const wanted of words.slice(0, 3)) {
          const { found } = ask(`${wanted} `, texts, texts.length);
          expect(found.map(({ id }) => Number(id))).toContain(memory);
          expectFalling(found);
        }
        expectFalling(ask(query, texts).found);
      }),
    );
  });

  test('finds numbers that begin with a number in the query', () => {
    const texts = ['Order 47110815 was sent', 'Order 98765 was sent'];
    for (const query of ['4711?', '4711']) {
      expect(ask(query, texts).found.map(({ id }) => id)).toEqual(['0']);
    }
  });

  test('pairs only adjacent words of the query, not words separated by a stop word', () => {
    expect(parseQuery('green tea').pairs).toMatchObject([{ left: 0, right: 1 }]);
    expect(parseQuery('green and tea').pairs).toEqual([]);
  });

  test('joins adjacent words, but not the speaker with the first word of the text', () => {
    expect(ask('anaboat?', ['an ana boat']).found).toHaveLength(1);
    expect(ask('anaboat?', ['Ana: boat']).found).toHaveLength(0);
    const texts = ['Bought a notebook', 'Sang one note', 'Read a book'];
    expect(ask('note book?', texts).found.map(({ id }) => id)).toContain('0');
  });

  test('matches a mistyped word only with the 500 oldest similar words', () => {
    const texts = Array.from({ length: 600 }, (_, at) => {
      return `zeppelinx${String.fromCharCode(97 + Math.floor(at / 26), 97 + (at % 26))}`;
    });
    const ids = ask('zeppelin?', texts, 600).found.map(({ id }) => Number(id));
    expect(ids.sort((a, b) => a - b)).toEqual([...Array(500).keys()]);
  });

  test('joins adjacent words to match a query word at no more than 500,000 places', () => {
    const found = (places: number) => {
      return ask('notebook?', ['note '.repeat(places - 1), 'a note book']).found.length;
    };
    expect(found(500_000)).toBe(2);
    expect(found(500_001)).toBe(0);
  });

  test('prefers the accents of a Vietnamese query, and matches all accents if it has none', () => {
    const texts = ['một bạn tốt', 'một bản nhạc', 'ban'];
    expect(ask('bạn?', texts).found.map(({ id }) => id)).toEqual(['0', '2', '1']);
    expect(ask('ban?', texts).found).toHaveLength(3);
  });

  test('prefers the turn that answers the preceding question', () => {
    const { found } = ask('What color is the boat?', [
      'Ana: The color of the car is blue.',
      'Ben: And what about the boat, what color is it?',
      'Ana: A deep green color with a thin white line.',
    ]);
    expect(found.map(({ id }) => id)).toEqual(['1', '2', '0']);
  });

  test('prefers what the user said to replies, and the reply to a question that matches', () => {
    const recipe = 'Heat the oven, then bake the bread until it is dark.';
    const messages: [role: string, content: string][] = [
      ['user', 'How long do I bake a rye bread for Ida?'],
      ['assistant', `${recipe} ${'It takes patience. '.repeat(100)} A bread like this keeps well.`],
      ['user', 'And a cake?'],
      ['assistant', `Which bread you bake decides it. ${recipe}`],
      ['user', 'I did bake a spelt bread.'],
    ];
    const index = new SearchIndex();
    for (const [at, [role, content]] of messages.entries()) {
      const chunks = indexedChunks(content, JSON.stringify({ role }));
      index.put({ id: `${at}`, createdAt: at, chunks });
    }
    const found = [...index.search(parseQuery('Which bread did I bake for Ida?'))];
    expect(found.map(({ id }) => id)).toEqual(['0', '1', '4', '3']);
  });
});

function ask(
  query: string,
  texts: string[],
  limit = 10,
): { found: RankedMemory[]; ranked: Ranked } {
  const index = new SearchIndex();
  for (const [at, content] of texts.entries()) {
    const chunks = [{ start: 0, length: content.length, text: normalize(content) }];
    index.put({ id: `${at}`, createdAt: at, chunks });
  }
  const ranked = index.search(parseQuery(query));
  return { found: [...ranked].slice(0, limit), ranked };
}

function expectFalling(found: RankedMemory[]): void {
  for (const [index, { score }] of found.entries()) {
    expect(Number.isFinite(score)).toBe(true);
    expect(score).toBeLessThanOrEqual(found[index - 1]?.score ?? Number.POSITIVE_INFINITY);
    expect(score).toBeGreaterThan(0);
  }
}

test('a code without its hyphens is found, and hardly any memory with a part of it', () => {
  const bid = 'Bid KW-2026-018 for Medidata';
  for (const query of ['KW2026018', 'the bid kw2026018?', 'KW2026018 2026']) {
    const { found, ranked } = ask(query, [...Array(9).fill('Signed in 2026'), bid]);
    const [first, second] = found;
    expect(first?.id).toBe('9');
    expect(second?.score).toBeLessThan((first?.score ?? 0) / 20);
    expect(marked(snippet(bid, ranked))).toContain('«KW»-«2026»-«018»');
  }
});

test('a word in camel case is found by its parts, and stays next to its neighbours', () => {
  const texts = ['loadWithInventory is slow', 'Reads HTTPServerConfig', 'Used 31 kWh of 4'];
  const firsts = ['inventory?', 'load?', 'loadwithinventory?'].map((query) => [query, '0']);
  const others = [['server config?', '1'], ['http_server?', '1'], ['kwh?', '2'], ['wh?']];
  for (const [query = '', ...ids] of [...firsts, ...others]) {
    expect([query, ask(query, texts).found.map(({ id }) => id)]).toEqual([query, ids]);
  }
  const accented = ['Reads überGroßeDinge', 'Ein naïveBayesModel'];
  for (const [query = '', ...ids] of [['große?', '0'], ['naïve?', '1'], ['ber?'], ['ve?']]) {
    expect([query, ask(query, accented).found.map(({ id }) => id)]).toEqual([query, ids]);
  }
  const { found } = ask('"GitHub Actions?"', [
    'He uses GitHub actions',
    'Actions of a GitHub user',
  ]);
  expect(found.map(({ id }) => id)).toEqual(['0', '1']);
});

test('a hash is found by its first seven digits or more, and by more than are stored', () => {
  const texts = ['Reverted 7d41e9c on Friday', 'Bisected to 7d41e9c0b52f', 'Merged 7d41e9 too'];
  for (const query of ['7d41e9c0b52f8a66?', '7d41e9c0?']) {
    expect(ask(query, texts).found.map(({ id }) => id)).toEqual(['1', '0']);
  }
  const others = ['Merged 7d41e9', 'Order 1002384 was sent', 'It was defaced'];
  for (const query of ['7d41e9c0b?', '10023844?', 'defacedbe?']) {
    expect([query, ask(query, others).found]).toEqual([query, []]);
  }
});

test('a number with another digit is another number, not a typo', () => {
  const texts = ['Order 10023844 was sent', 'It failed with ERR-4711', 'Flight BA117 is late'];
  for (const query of ['10023845?', '4712?', '47111?', 'BA118?']) {
    expect([query, ask(query, texts).found]).toEqual([query, []]);
  }
});
