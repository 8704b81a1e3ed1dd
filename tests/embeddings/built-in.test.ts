import { expect, test } from 'bun:test';
import { openBuiltInModel } from '../../server/embeddings/built-in.ts';
import { measureUnrelated } from '../../server/embeddings/calibration.ts';

test('the cosines of unrelated sentences are distributed as the model says', async () => {
  const model = await openBuiltInModel();
  const measured = await measureUnrelated(model);
  expect(measured.mean).toBeCloseTo(model.unrelated?.mean ?? 0, 4);
  expect(measured.deviation).toBeCloseTo(model.unrelated?.deviation ?? 0, 4);
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
