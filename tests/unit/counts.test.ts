import { expect, test } from 'bun:test';
import { count, observe, observeMs, readSeries } from '../../server/metrics/counts.ts';

const sumOf = () => readSeries('memory_commit_duration_seconds')[0]?.counts.at(-1) ?? 0;

test('durations are added up in seconds, beyond 32 bits', () => {
  const before = sumOf();
  const hourMs = 3_600_000;
  for (let times = 0; times < 3; times += 1) {
    observeMs('memory_commit_duration_seconds', {}, hourMs);
  }
  expect(sumOf() - before).toBeCloseTo(3 * 3_600, 5);
});

test.each([
  [1, 0],
  [1.5, 1],
  [2, 1],
  [128, 7],
  [129, 8],
])('a value of %p is counted in bucket %i', (value, bucket) => {
  const buckets = () => readSeries('memory_commit_writes')[0]?.counts.slice(0, -1) ?? [];
  const before = buckets();
  observe('memory_commit_writes', {}, value);
  const added = buckets().map((now, at) => now - (before[at] ?? 0));
  expect(added).toEqual(before.map((_, at) => Number(at === bucket)));
});

test('a value that is not listed counts as other', () => {
  const labels = { route: '/nowhere', method: 'PROPFIND', status: '' };
  count('memory_http_requests_total', labels);
  const found = readSeries('memory_http_requests_total').map((series) => series.labels);
  expect(found).toContainEqual({ route: 'other', method: 'other', status: 'other' });
});
