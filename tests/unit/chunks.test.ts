import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { indexInTurns, indexPassages, splitPassages } from '../../server/memory/passages.ts';
import { countTurns } from '../support/turns.ts';

const targetLength = 1_000;

/** Long texts of every kind that a cut can meet: words, lines, paragraphs, pairs, none of them. */
const texts = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 400 }),
      fc.constantFrom('\n\n', '\n', ' ', '. ', '。', 'x', '\r\n', 'x'.repeat(700)),
      fc.constant('𝄞'.repeat(700)),
      fc.string({ unit: fc.constantFrom('𝄞', '😀'), maxLength: 700 }),
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''));

function cut(text: string): string[] {
  return splitPassages(text).map(({ start, length }) => text.slice(start, start + length));
}

test('who speaks is found with each passage, but for what is too long to be a name', () => {
  const text = 'word '.repeat(1_000);
  const foldedOf = (author: string) =>
    indexPassages(text, JSON.stringify({ author })).map(({ folded }) => folded);
  expect(foldedOf('Ana').every((folded) => folded.includes('ana'))).toBe(true);
  const long = foldedOf('ana '.repeat(4_000)).join('');
  expect(long).not.toContain('ana');
});

test('a long text is read as any other, with others let in between', async () => {
  const text = 'Straße um Straße. '.repeat(60_000);
  const metadata = JSON.stringify({ title: 'Streets', author: 'Ana' });
  const { value, turns } = await countTurns(async () => indexInTurns(text, metadata));
  expect(value).toEqual(indexPassages(text, metadata));
  expect(turns).toBeGreaterThan(5);
});

describe('passages of any text', () => {
  test('stand one after the other and cover it all', () => {
    const covers = fc.property(texts, (text) => {
      let end = 0;
      for (const { start, length } of splitPassages(text)) {
        expect(start).toBe(end);
        expect(length).toBeGreaterThan(0);
        end = start + length;
      }
      expect(end).toBe(text.length);
    });
    fc.assert(covers, { numRuns: 300 });
  });

  test('are never longer than the target', () => {
    const fits = fc.property(texts, (text) => {
      for (const { length } of splitPassages(text))
        expect(length).toBeLessThanOrEqual(targetLength);
    });
    fc.assert(fits, { numRuns: 300 });
  });

  test('never split a surrogate pair', () => {
    const whole = fc.property(texts, (text) => {
      for (const passage of cut(text)) expect(passage.isWellFormed()).toBe(true);
    });
    fc.assert(whole, { numRuns: 300 });
  });
});

describe('a cut falls', () => {
  const first = (text: string) => cut(text)[0];
  const half = 'x'.repeat(600);

  test('nowhere in a text of the target length', () => {
    expect(cut('x'.repeat(targetLength))).toHaveLength(1);
    expect(cut('x'.repeat(targetLength + 1))).toHaveLength(2);
    expect(cut('')).toEqual([]);
  });

  test('after a paragraph rather than a line, a sentence or a word', () => {
    const text = `${half}\n\nnext\nline. Sentence and word${half}`;
    expect(first(text)).toBe(`${half}\n\n`);
  });

  test('after a line rather than a sentence or a word', () => {
    expect(first(`${half}\nnext. Sentence and word${half}`)).toBe(`${half}\n`);
  });

  test('after a sentence rather than a word', () => {
    expect(first(`${half}. And a word${half}`)).toBe(`${half}. `);
    expect(first(`${half}。And a word${half}`)).toBe(`${half}。`);
  });

  test('after a word where there is nothing better', () => {
    expect(first(`${half} word${half}`)).toBe(`${half} `);
  });

  test('in the second half only, so that no passage is a crumb', () => {
    expect(first(`short\n\n${'x'.repeat(2_000)}`)).toHaveLength(targetLength);
  });
});

test.each([
  ['one word', 'x'],
  ['spaces', ' '],
  ['empty lines', '\n'],
  ['lines of spaces', '\n    '],
  ['sentences', 'All is well. '],
  ['pairs', '😀'],
])('5 MB of %s are cut in linear time', (_, unit) => {
  const text = unit.repeat(Math.ceil(5_000_000 / unit.length));
  const begin = performance.now();
  const passages = splitPassages(text);
  // A tenth of this is usual; anything quadratic would take hours.
  expect(performance.now() - begin).toBeLessThan(3_000);
  expect(passages.length).toBeGreaterThanOrEqual(text.length / targetLength);
});
