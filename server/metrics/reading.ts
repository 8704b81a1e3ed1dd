export type Labels = Record<string, string>;
/** Selects the time series of a metric. By default, all are selected. */
export type Where = (labels: Labels) => boolean;

type Sample = { name: string; labels: Labels; value: number };

const sampleLine = /^(\w+)(?:\{(.*)\})? (\S+)$/gm;
const labelPair = /(\w+)="((?:[^"\\]|\\.)*)"/g;
const all: Where = () => true;

/** The figures of a server at one time, as it reports them at /metrics. */
export class Metrics {
  readonly #samples: Map<string, Sample[]>;

  constructor(text: string) {
    // Arrays, because browsers that run the console may not map an iterator.
    const samples = [...text.matchAll(sampleLine)].map(([, name = '', labels = '', value]) => {
      const pairs = [...labels.matchAll(labelPair)].map(([, label, text = '']) => [label, text]);
      return { name, labels: Object.fromEntries(pairs), value: Number(value) };
    });
    this.#samples = Map.groupBy(samples, ({ name }) => name);
  }

  labelsOf(name: string): Labels[] {
    return (this.#samples.get(name) ?? []).map(({ labels }) => labels);
  }

  /** Returns the sum of the selected time series, or null if there are none. */
  sum(name: string, where: Where = all): number | null {
    const samples = (this.#samples.get(name) ?? []).filter(({ labels }) => where(labels));
    return samples.length === 0 ? null : samples.reduce((sum, { value }) => sum + value, 0);
  }
}

export type Span = { before: Metrics; after: Metrics };

/** How much a counter has grown. A server that was restarted counts from zero. */
export function growth({ before, after }: Span, name: string, where: Where = all): number {
  const [from, to] = [before.sum(name, where) ?? 0, after.sum(name, where) ?? 0];
  return to < from ? to : to - from;
}

/**
 * Estimates a quantile of the values that a histogram has counted in between, as if the values in a
 * bucket were spread evenly. Null if there were none.
 */
export function quantile(span: Span, share: number, name: string, where: Where = all) {
  const bounds = new Set(span.after.labelsOf(`${name}_bucket`).map(({ le = '' }) => le));
  const buckets = [...bounds]
    .map((le) => ({
      bound: le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le),
      count: growth(span, `${name}_bucket`, (labels) => labels.le === le && where(labels)),
    }))
    .sort((a, b) => a.bound - b.bound);
  const wanted = share * (buckets.at(-1)?.count ?? 0);
  const at = buckets.findIndex(({ count }) => count >= wanted);
  const [low = { bound: 0, count: 0 }, high] = [buckets[at - 1], buckets[at]];
  if (wanted === 0 || high === undefined) return null;
  if (high.bound === Number.POSITIVE_INFINITY) return low.bound;
  return low.bound + ((high.bound - low.bound) * (wanted - low.count)) / (high.count - low.count);
}
