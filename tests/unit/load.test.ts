import { expect, test } from 'bun:test';
import { loadOf } from '../../cli/client/load.ts';
import { growth, Metrics, quantile } from '../../server/metrics/reading.ts';

/** Returns the text of a histogram whose buckets end at 1, 2 and infinity. */
function histogram(one: number, two: number, all: number): Metrics {
  const finite = `h_bucket{le="1.0"} ${one}\nh_bucket{le="2.0"} ${two}`;
  return new Metrics(`${finite}\nh_bucket{le="+Inf"} ${all}\nh_sum 3.5\nh_count ${all}`);
}
const none = histogram(0, 0, 0);

test.each([
  ['the middle of the first bucket', histogram(10, 10, 10), 0.5, 0.5],
  ['the end of the first bucket', histogram(5, 10, 10), 0.5, 1],
  ['the middle of the second bucket', histogram(5, 10, 10), 0.75, 1.5],
  ['the last bound, if the value is larger', histogram(0, 5, 10), 0.99, 2],
  ['nothing, if there are no values', none, 0.5, null],
])('a quantile is %s', (_, after, share, expected) => {
  expect(quantile({ before: none, after }, share, 'h')).toBe(expected);
});

test('a quantile does not depend on values before the first reading', () => {
  const before = histogram(100, 100, 100);
  expect(quantile({ before, after: histogram(100, 110, 110) }, 0.5, 'h')).toBe(1.5);
});

test('a counter of a restarted server counts from zero', () => {
  const [before, after] = [new Metrics('a_total 70'), new Metrics('a_total 3')];
  expect(growth({ before, after }, 'a_total')).toBe(3);
  expect(growth({ before: after, after: before }, 'a_total')).toBe(67);
});

test('labels with escaped characters are read', () => {
  const metrics = new Metrics(String.raw`a{x="q\"}",y="b"} 4`);
  expect(metrics.labelsOf('a')).toEqual([{ x: String.raw`q\"}`, y: 'b' }]);
  expect(metrics.sum('a', ({ y }) => y === 'b')).toBe(4);
});

test('metrics that a server does not have are null, or zero per second', () => {
  const nothing = new Metrics('');
  const load = loadOf({ before: nothing, after: nothing }, 2, 0);
  expect(load).toMatchObject({ memoryBytes: null, pendingEmbeddings: null, p50Ms: null });
  expect(load).toMatchObject({ requestsPerSecond: 0, lastBackupAt: null, routes: [] });
});
