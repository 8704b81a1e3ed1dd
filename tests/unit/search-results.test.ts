import { expect, test } from 'bun:test';
import { createSearchResults, type SearchResults } from '../../server/storage/search-results.ts';
import { imported } from '../storage/fixtures.ts';
import { thrownBy } from '../support/thrown.ts';

/** The maximum amount of text in a response with several memories, in UTF-16 units. */
const maxText = 64 * 1024 * 1024;

const parts = { words: 1, phrase: 0, meaning: 0, date: 0 };
const ranked = { start: 0, length: 5, score: 1, parts, isMeant: false };

function open(limit: number): SearchResults {
  const matcher = { match: () => null, prefix: null };
  return createSearchResults({ matcher } as never, { limit });
}

function add(results: SearchResults, content: string): void {
  const memory = imported({ content });
  results.add({ ...ranked, id: memory.id }, memory);
}

function found(results: SearchResults): { content: string }[] {
  return JSON.parse(results.items().join(''));
}

test('a single memory is returned even if it is longer than the limit for several memories', () => {
  const results = open(10);
  add(results, 'x'.repeat(maxText + 1));
  expect(found(results)).toHaveLength(1);
});

test.each([
  [[maxText], 1],
  [[maxText - 10, 10], 2],
])('after texts of %j, one more is an error that names how many fit: %i', (lengths, fitting) => {
  const results = open(10);
  for (const length of lengths) add(results, 'x'.repeat(length));
  const message = expect.stringContaining(`must be at most ${fitting}`);
  const details = [{ field: 'limit', message }];
  expect(thrownBy(() => add(results, 'z'))).toMatchObject({ code: 'invalid_request', details });
});
