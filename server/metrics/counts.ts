import { type LabelsOf, type Metric, type MetricName, metrics } from './table.ts';

/*
 * The counts of this process, in memory that all of its threads share: a count costs one atomic
 * addition in any thread, no thread has to be asked for its counts, and they survive a thread that
 * is restarted. Each counter takes one number; each histogram one for every bucket, and the sum. A
 * number has 64 bits, in two halves, because atomic operations on 64 bits take three times as long.
 */

/** One time series. A histogram has the counts of its buckets, the last one +Inf, and the sum. */
export type Series = { labels: Record<string, string>; counts: number[] };

type Layout = {
  metric: Metric;
  offset: number;
  /** The numbers of one time series. */
  width: number;
  labels: { name: string; values: readonly string[]; positions: ReadonlyMap<string, number> }[];
};

const other = 'other';
const layouts = {} as Record<MetricName, Layout>;
let size = 0;
for (const [name, metric] of Object.entries<Metric>(metrics)) {
  const labels = Object.entries(metric.labels).map(([label, known]) => {
    const values = [...known, other];
    return { name: label, values, positions: new Map(values.map((value, at) => [value, at])) };
  });
  const width = metric.type === 'counter' ? 1 : metric.bounds.length + 2;
  layouts[name as MetricName] = { metric, offset: size, width, labels };
  size += labels.reduce((product, { values }) => product * values.length, width);
}

const bytes = 8;
/** The HTTP thread gives its own to the threads that it starts. */
export const ownCounts = new SharedArrayBuffer(bytes * size);
let halves = new Int32Array(ownCounts);

/** Counts in the memory of the HTTP thread from now on. */
export function useSharedCounts(shared: SharedArrayBuffer): void {
  halves = new Int32Array(shared);
}

type CounterName = NameOf<'counter'>;
type HistogramName = NameOf<'histogram'>;
type NameOf<Type extends Metric['type']> = {
  [Name in MetricName]: (typeof metrics)[Name]['type'] extends Type ? Name : never;
}[MetricName];

export function count<Name extends CounterName>(
  name: Name,
  labels: LabelsOf<Name>,
  amount = 1,
): void {
  add(firstOf(layouts[name], labels), amount);
}

/** Adds an observed value to a histogram. */
export function observe<Name extends HistogramName>(
  name: Name,
  labels: LabelsOf<Name>,
  value: number,
): void {
  const layout = layouts[name];
  const { bounds, unit } = layout.metric;
  const first = firstOf(layout, labels);
  let bucket = 0;
  while (value > (bounds[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1;
  add(first + bucket, 1);
  add(first + layout.width - 1, Math.round(value / unit));
}

/** Adds a duration to a histogram of seconds. */
export function observeMs<Name extends HistogramName & `${string}_seconds`>(
  name: Name,
  labels: LabelsOf<Name>,
  durationMs: number,
): void {
  observe(name, labels, durationMs / 1_000);
}

/** Returns the time series of a metric, without those of requests that never occurred. */
export function readSeries(name: MetricName): Series[] {
  const layout = layouts[name];
  const { offset, width, labels, metric } = layout;
  const length = labels.reduce((product, { values }) => product * values.length, width);
  const isSparse = 'route' in metric.labels;
  const series: Series[] = [];
  for (let first = offset; first < offset + length; first += width) {
    const own = Array.from({ length: width }, (_, at) => read(first + at));
    const isZero = own.every((value) => value === 0);
    if (isZero && isSparse) continue;
    const named = labelsAt(layout, (first - offset) / width);
    if (isZero && Object.values(named).includes(other)) continue;
    if (metric.type === 'histogram') own.push(Number(own.pop()) * metric.unit);
    series.push({ labels: named, counts: own });
  }
  return series;
}

/** Returns where the numbers of a time series begin. */
function firstOf({ offset, width, labels }: Layout, given: Record<string, string>): number {
  let index = 0;
  for (const { name, values, positions } of labels) {
    index = index * values.length + (positions.get(given[name] ?? '') ?? values.length - 1);
  }
  return offset + index * width;
}

function labelsAt({ labels }: Layout, index: number): Record<string, string> {
  let rest = index;
  const named = labels.toReversed().map(({ name, values }) => {
    const value = values[rest % values.length] ?? other;
    rest = Math.floor(rest / values.length);
    return [name, value];
  });
  return Object.fromEntries(named.reverse());
}

/** `amount` must be less than 2^32. */
function add(slot: number, amount: number): void {
  const low = Atomics.add(halves, 2 * slot, amount) >>> 0;
  if (low + amount >= 2 ** 32) Atomics.add(halves, 2 * slot + 1, 1);
}

function read(slot: number): number {
  const low = Atomics.load(halves, 2 * slot) >>> 0;
  return Atomics.load(halves, 2 * slot + 1) * 2 ** 32 + low;
}
