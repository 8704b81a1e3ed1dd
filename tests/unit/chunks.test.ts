import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { chunksOf, indexedChunks, targetLength } from '../../server/memory/chunks.ts';
import { anyCodePoint } from '../support/inputs.ts';

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

const document = { title: 'Streets' };
const documentTarget = 500;

function cut(text: string, metadata: object = {}): string[] {
  const chunks = chunksOf(text, JSON.stringify(metadata));
  return chunks.map(({ start, length }) => text.slice(start, start + length));
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

test('the chunks of any input cover it, fit the target, and split no surrogate pair', () => {
  const isCut = fc.property(texts, fc.constantFrom({}, document), (text, metadata) => {
    const chunks = cut(text, metadata);
    const isDocument = metadata === document && text.length > targetLength;
    const target = isDocument && text.length <= 16_000 ? documentTarget : targetLength;
    expect(chunks.join('')).toBe(text);
    for (const chunk of chunks) {
      expect(chunk.length).toBeWithin(1, target + 1);
      expect(chunk.isWellFormed()).toBe(true);
    }
  });
  fc.assert(isCut, { numRuns: 300 });
});

const x = (length: number) => 'x'.repeat(length);
const half = x(600);

test.each<[where: string, text: string, first: string]>([
  ['nowhere in a text of the target length', 'x'.repeat(targetLength), 'x'.repeat(targetLength)],
  ['after a paragraph, rather than a line', `${half}\n\nnext\nline. Word${half}`, `${half}\n\n`],
  ['after a line, rather than a sentence', `${half}\nnext. Sentence and word${half}`, `${half}\n`],
  ['after a sentence, rather than a word', `${half}. And a word${half}`, `${half}. `],
  ['after a sentence in Chinese', `${half}。And a word${half}`, `${half}。`],
  ['after a word if there is no better place', `${half} word${half}`, `${half} `],
  ['in the second half', `short\n\n${x(2_000)}`, `short\n\n${x(targetLength - 7)}`],
])('the first cut falls %s', (_, text, first) => {
  expect(cut(text)[0]).toBe(first);
});

const talk = 'Ana: Are you in at six?\nBen: At seven.\n'.repeat(60);

test.each<[what: string, text: string, metadata: object, target: number]>([
  ['a document', x(2_000), document, documentTarget],
  ['a document of 16,000 characters', x(16_000), document, documentTarget],
  ['a text of 1,000 characters with a title', x(1_000), document, targetLength],
  ['a longer document', x(24_000), document, 750],
  ['a document of 32,000 characters', x(32_000), document, targetLength],
  ['a text without a title', x(2_000), {}, targetLength],
  ['a message with a title', x(2_000), { ...document, role: 'user' }, targetLength],
  ['a chat with a title', `user: Hi\nassistant: ${x(2_000)}`, document, targetLength],
])('the longest chunk of %s has %3$i characters', (_, text, metadata, target) => {
  expect(Math.max(...cut(text, metadata).map(({ length }) => length))).toBe(target);
});

test('a conversation with a title is cut like one without', () => {
  expect(cut(talk, document)).toEqual(cut(talk));
});

test('one character more than the target makes two chunks, and an empty text none', () => {
  expect(cut('x'.repeat(targetLength + 1))).toHaveLength(2);
  expect(cut('')).toEqual([]);
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
  const chunks = chunksOf(text, '{}');
  expect(chunks.length).toBeGreaterThanOrEqual(text.length / targetLength);
});
