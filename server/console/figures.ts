/** The state of the service at one time, as `/metrics` describes it. */
export type Sample = { at: number; series: Series[] };
type Series = { name: string; labels: Record<string, string>; value: number };

/** Reads the text format of Prometheus. */
export function readSample(at: number, text: string): Sample {
  const series = text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (name === undefined) return [];
    const pairs = [...labels.matchAll(/(\w+)="((?:\\.|[^"\\])*)"/g)];
    const named = Object.fromEntries(pairs.map(([, label = '', given = '']) => [label, given]));
    return [{ name, labels: named, value: Number(value) }];
  });
  return { at, series };
}

/** Some time series of a metric. */
type Chosen = { name: string; where?: (labels: Series['labels']) => boolean };

function chosen({ series }: Sample, { name, where = () => true }: Chosen): Series[] {
  return series.filter((one) => one.name === name && where(one.labels));
}

/** Returns the sum of the time series, or null if there are none. */
export function total(sample: Sample | undefined, what: Chosen): number | null {
  const found = sample === undefined ? [] : chosen(sample, what);
  return found.length === 0 ? null : found.reduce((sum, { value }) => sum + value, 0);
}

/** Returns how fast a counter increased, per second. A restart sets it back to zero. */
export function rate(before: Sample, after: Sample, what: Chosen): number | null {
  const [from, to] = [total(before, what), total(after, what)];
  if (to === null) return null;
  const increase = to - (from ?? 0);
  return increase < 0 ? null : increase / ((after.at - before.at) / 1_000);
}

/** Returns a quantile of what a histogram observed between two samples, or null if nothing. */
export function quantile(before: Sample, after: Sample, what: Chosen, q: number): number | null {
  const buckets = { ...what, name: `${what.name}_bucket` };
  const counts = new Map<number, number>();
  for (const [sample, sign] of [
    [after, 1],
    [before, -1],
  ] as const) {
    for (const { labels, value } of chosen(sample, buckets)) {
      const bound = labels.le === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels.le);
      counts.set(bound, (counts.get(bound) ?? 0) + sign * value);
    }
  }
  return interpolated(
    [...counts].sort(([a], [b]) => a - b),
    q,
  );
}

/** The buckets are cumulative. Within a bucket, the values count as evenly distributed. */
function interpolated(buckets: [bound: number, count: number][], q: number): number | null {
  const rank = q * (buckets.at(-1)?.[1] ?? 0);
  if (rank <= 0) return null;
  let [lower, below] = [0, 0];
  for (const [bound, count] of buckets) {
    if (count >= rank) {
      const share = (rank - below) / (count - below);
      return bound === Number.POSITIVE_INFINITY ? lower : lower + share * (bound - lower);
    }
    [lower, below] = [bound, count];
  }
  return null;
}
