import { readSeries, type Series } from './counts.ts';
import type { Family, Sample } from './exposition.ts';
import { type Metric, type MetricName, metrics } from './table.ts';

export function countedFamilies(): Family[] {
  return Object.entries<Metric>(metrics).map(([name, { type, help, bounds }]) => {
    const series = readSeries(name as MetricName);
    const samples =
      type === 'counter'
        ? series.map(({ labels, counts: [value = 0] }) => ({ labels, value }))
        : series.flatMap(bucketsOf(bounds));
    return { name, type, help, samples };
  });
}

/** The buckets of Prometheus are cumulative: each includes all smaller values. */
function bucketsOf(bounds: readonly number[]): (series: Series) => Sample[] {
  return ({ labels, counts }) => {
    let total = 0;
    const buckets = [...bounds, Number.POSITIVE_INFINITY].map((bound, at) => {
      total += counts[at] ?? 0;
      return { suffix: '_bucket', labels: { ...labels, le: renderBound(bound) }, value: total };
    });
    return [
      ...buckets,
      { suffix: '_sum', labels, value: counts.at(-1) ?? 0 },
      { suffix: '_count', labels, value: total },
    ];
  };
}

/** OpenMetrics wants a decimal point, and a label must be equal in both formats. */
function renderBound(bound: number): string {
  if (bound === Number.POSITIVE_INFINITY) return '+Inf';
  return Number.isInteger(bound) ? `${bound}.0` : String(bound);
}
