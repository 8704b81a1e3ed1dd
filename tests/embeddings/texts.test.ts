import { expect, test } from 'bun:test';
import { hashOf, textFormat, textsToEmbed } from '../../server/embeddings/texts.ts';
import { maxVectors } from '../../server/memory/chunks.ts';

const long = 'A sentence of a long answer. '.repeat(60);

/** Returns how each text begins, or null for a chunk without a vector. */
function beginnings(content: string, metadata: object = {}): (string | null)[] {
  const texts = textsToEmbed({ content, metadata: JSON.stringify(metadata) });
  return texts.map((text) => text?.slice(0, 10) ?? null);
}

test.each([
  ['a text', long, {}, ['A sentence', 'A sentence']],
  ['a document', long, { title: 'Glaze' }, ['Glaze\nA se', ...Array(3).fill('A sentence')]],
  ['what a user said', long, { role: 'user' }, ['A sentence', 'A sentence']],
  ['a reply', long, { role: 'assistant' }, ['A sentence']],
  ['a reply with a title', long, { role: 'assistant', title: 'Glaze' }, ['Glaze\nA se']],
  [
    'a chat',
    `user: How?\nassistant: ${long}\nuser: And then?\nassistant: ${long}`,
    {},
    ['user: How?', 'assistant:', null, 'user: And ', 'assistant:'],
  ],
])(
  'each chunk of %s gets a vector, except the later ones of a reply',
  (_, content, about, texts) => {
    expect(beginnings(content, about)).toEqual(texts);
  },
);

test('a memory gets no more than 64 vectors', () => {
  const words = (list: (string | null)[]) => list.filter((text) => text !== null);
  expect(beginnings('word '.repeat(20_000))).toHaveLength(maxVectors);
  const chat = `user: How?\nassistant: ${long}\n`.repeat(100);
  expect(words(beginnings(chat))).toHaveLength(maxVectors);
});

test('the vectors of a document of up to 32,000 characters stand for all of it', () => {
  for (const unit of ['word ', `${'x'.repeat(260)}\n\n`, `${'x'.repeat(505)}\n\n`, '😀']) {
    for (const size of [1_000, 16_000, 31_000, 32_000]) {
      const content = unit.repeat(size / unit.length);
      const texts = textsToEmbed({ content, metadata: '{"title":"word"}' });
      const whole = texts.join('').replace(/^word\n/, '');
      expect(whole).toBe(content);
    }
  }
});

// If this fails, change the format too, so that the vectors of earlier texts are not used.
test('the format changes with the texts', () => {
  const chat = `user: How?\nassistant: ${long}\nuser: And then?`;
  const texts = [long, chat].flatMap((content) =>
    [{}, { title: 'Glaze' }, { role: 'assistant' }].flatMap((metadata) =>
      textsToEmbed({ content, metadata: JSON.stringify(metadata) }),
    ),
  );
  expect([textFormat, hashOf(texts)]).toEqual([2, 'mBmkrwwCp2tyVpavM2jvaz']);
});
