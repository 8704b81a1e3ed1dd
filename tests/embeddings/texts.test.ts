import { expect, test } from 'bun:test';
import { maxVectors, textsToEmbed } from '../../server/embeddings/texts.ts';

const long = 'A sentence of a long answer. '.repeat(60);

/** Returns how each text begins, or null for a chunk without a vector. */
function beginnings(content: string, metadata: object = {}): (string | null)[] {
  const texts = textsToEmbed({ content, metadata: JSON.stringify(metadata) });
  return texts.map((text) => text?.slice(0, 10) ?? null);
}

test.each([
  ['a text', long, {}, ['A sentence', 'A sentence']],
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
