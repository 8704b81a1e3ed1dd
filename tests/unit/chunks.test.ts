import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { indexedChunks, splitChunks } from '../../server/memory/chunks.ts';

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

function cut(content: string): string[] {
  let end = 0;
  return splitChunks(content).map((length) => {
    end += length;
    return content.slice(end - length, end);
  });
}

test('the author is searched with each chunk, unless it is too long for a name', () => {
  const content = 'word '.repeat(1_000);
  const textsOf = (author: string) => {
    const metadata = JSON.stringify({ author });
    return indexedChunks(content, metadata, splitChunks(content)).map(({ text }) => text);
  };
  expect(textsOf('Ana').every((text) => text.startsWith('ana: word'))).toBe(true);
  expect(textsOf('ana '.repeat(4_000)).join('')).not.toContain('ana');
});

test('the title is searched with the first chunk, unless the text holds it', () => {
  const metadata = JSON.stringify({ title: 'Green tea' });
  const textsOf = (content: string) => indexedChunks(content, metadata, [3, content.length - 3]);
  expect(textsOf('abcdef')).toEqual([
    { start: 0, length: 3, text: 'green tea\nabc' },
    { start: 3, length: 3, text: 'def' },
  ]);
  const content = 'Green tea';
  expect(indexedChunks(content, metadata, [content.length])[0]?.text).toBe('green tea');
});

describe('chunks of any text', () => {
  test('cover it all', () => {
    const covers = fc.property(texts, (text) => {
      const lengths = splitChunks(text);
      expect(lengths.every((length) => length > 0)).toBe(true);
      expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(text.length);
    });
    fc.assert(covers, { numRuns: 300 });
  });

  test('are never longer than the target', () => {
    const fits = fc.property(texts, (text) => {
      for (const length of splitChunks(text)) expect(length).toBeLessThanOrEqual(targetLength);
    });
    fc.assert(fits, { numRuns: 300 });
  });

  test('never split a surrogate pair', () => {
    const whole = fc.property(texts, (text) => {
      for (const chunk of cut(text)) expect(chunk.isWellFormed()).toBe(true);
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

  test('in the second half only, so that no chunk is a crumb', () => {
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
  const chunks = splitChunks(text);
  // A tenth of this is usual; anything quadratic would take hours.
  expect(performance.now() - begin).toBeLessThan(3_000);
  expect(chunks.length).toBeGreaterThanOrEqual(text.length / targetLength);
});
