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

function add(results: SearchResults, content: string, fields = {}): void {
  const memory = imported({ content, ...fields });
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

test('an error names the number of memories that fit into a response', () => {
  const results = open(10);
  add(results, 'x'.repeat(maxText - 10));
  add(results, 'y'.repeat(10));
  const message = expect.stringContaining('must be at most 2');
  const details = [{ field: 'limit', message }];
  expect(thrownBy(() => add(results, 'z'))).toMatchObject({ code: 'invalid_request', details });
});

test('two memories that together exceed the limit are not returned in one response', () => {
  const results = open(10);
  add(results, 'x'.repeat(maxText));
  expect(() => add(results, 'y')).toThrow('limit must be at most 1');
});
