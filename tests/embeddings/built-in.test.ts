import { expect, test } from 'bun:test';
import { openBuiltInModel } from '../../server/embeddings/built-in.ts';
import { measureUnrelated } from '../../server/embeddings/calibration.ts';

test('the cosines of unrelated sentences are distributed as the model says', async () => {
  const model = await openBuiltInModel();
  const measured = await measureUnrelated(model);
  expect(measured.mean).toBeCloseTo(model.unrelated?.mean ?? 0, 4);
  expect(measured.deviation).toBeCloseTo(model.unrelated?.deviation ?? 0, 4);
});

test.each([
  ['What food should I avoid for her?', 1, 1],
  ['anaphylaxis', 0.1, 0.3],
  ['Welche Allergien hat ihre Schwester?', 0.1, 0.5],
  ['Varşova nerede bulunmaktadır?', 0.01, 0.1],
  ['Ai là người phát minh ra động cơ hơi nước?', 0.01, 0.2],
  ['What did Zoë say about her résumé?', 0.4, 0.8],
  // More than 256 tokens, the length of the model's input.
  [`${'přemýšlíš '.repeat(60)}${'a '.repeat(200)}`, 0.1, 1],
])('knows the language of %j from %d to %d', async (question, least, most) => {
  const model = await openBuiltInModel();
  expect(model.fluency(question)).toBeGreaterThanOrEqual(least);
  expect(model.fluency(question)).toBeLessThanOrEqual(most);
});

test.each([
  ['what does she do for a living?', true],
  ['the user, and what he likes', true],
  ['she, her, him', false],
  ['user user user', false],
  ['what does Ada do for a living?', false],
])('who %j asks about has another weight than in a memory: %p', async (text, expected) => {
  const model = await openBuiltInModel();
  const [asked] = await model.embed([text], 'question');
  const [stored] = await model.embed([text], 'urgent');
  expect(Bun.deepEquals(asked, stored)).toBe(!expected);
});

test('texts that a search waits for are embedded before one that waits in the background', async () => {
  const model = await openBuiltInModel();
  const order: string[] = [];
  const background = model.embed(['Lives in Lisbon'], 'background').then(() => order.push('late'));
  // More texts than a text has steps, between which others could go on.
  const texts = Array.from({ length: 8 }, (_, n) => `Drives car ${n}`);
  const question = model.embed(texts, 'question').then(() => order.push('first'));
  await Promise.all([background, question]);
  expect(order).toEqual(['first', 'late']);
});
