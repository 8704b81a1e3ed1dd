import { expect, test } from 'bun:test';
import { searchWeights } from '../../server/search/weights.ts';
import { isHeldOut, readConversations } from '../eval/data.ts';
import { ours } from '../eval/engines.ts';
import { ask, meanOf } from '../eval/measure.ts';

test('search finds as much of the evaluation as when its weights were tuned', () => {
  const { turns, questions } = readConversations();
  const tuned = questions.filter((question) => !isHeldOut(question));
  const { at5, at10, mrr } = meanOf(ask(ours(turns, 10, searchWeights), tuned));
  // The limits are slightly lower than the figures, so that a small change is possible.
  expect(at5).toBeGreaterThan(0.71);
  expect(at10).toBeGreaterThan(0.78);
  expect(mrr).toBeGreaterThan(0.5);
});
