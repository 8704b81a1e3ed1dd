import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { indexedChunks, splitChunks } from '../../server/memory/chunks.ts';
import { anyCodePoint } from '../support/inputs.ts';

const targetLength = 1_000;

/** Texts with and without natural chunk boundaries, and with surrogate pairs. */
const texts = fc
  .array(
    fc.oneof(
      fc.string({ unit: anyCodePoint, maxLength: 400 }),
      fc.constantFrom('\n\n', '\n', ' ', '. ', '。', 'x', '\r\n', 'x'.repeat(700)),
      fc.constant('𝄞'.repeat(700)),
      fc.string({ unit: fc.constantFrom('𝄞', '😀'), maxLength: 700 }),
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''));

function cut(text: string): string[] {
  let end = 0;
  return splitChunks(text).map((length) => {
    end += length;
    return text.slice(end - length, end);
  });
}

/** Returns the text that the search index stores for each chunk of a memory. */
function indexedTexts(content: string, metadata: object): string[] {
  const chunks = indexedChunks(content, JSON.stringify(metadata));
  return chunks.map(({ text }) => text);
}

test('an author is indexed with each chunk, unless the value is too long to be a name', () => {
  const text = 'word '.repeat(1_000);
  expect(indexedTexts(text, { author: 'Ana' }).every((one) => one.includes('ana'))).toBe(true);
  expect(indexedTexts(text, { author: 'ana '.repeat(4_000) }).join('')).not.toContain('ana');
});

test('a title missing from the text is indexed only with the first chunk', () => {
  const text = 'word '.repeat(1_000);
  const [first = '', ...rest] = indexedTexts(text, { title: 'Streets' });
  expect(first).toContain('streets');
  expect(rest.join('')).not.toContain('streets');
  const [repeated] = indexedTexts('Streets and houses', { title: 'Streets' });
  expect(repeated).toBe(indexedTexts('Streets and houses', {})[0] ?? '');
});

describe('the chunks of any input', () => {
  test('are contiguous and cover all of it', () => {
    const covers = fc.property(texts, (text) => {
      expect(cut(text).join('')).toBe(text);
      expect(splitChunks(text).every((length) => length > 0)).toBe(true);
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

  test('nowhere if the text has the target length', () => {
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

  test('after a word if there is no better place', () => {
    expect(first(`${half} word${half}`)).toBe(`${half} `);
  });

  test('only in the second half, so that no chunk is tiny', () => {
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
  // Quadratic splitting would take hours.
  const chunks = splitChunks(text);
  expect(chunks.length).toBeGreaterThanOrEqual(text.length / targetLength);
});
