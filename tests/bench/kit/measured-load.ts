import type { Table } from './benchmark.ts';
import { type Load, load, type Measured } from './load.ts';
import { median, type Ratio, ratioOf, short, showRatio } from './numbers.ts';
import { type Subject, threadMicros } from './process.ts';

/** A load measurement with the CPU time that the server used. */
export type MeasuredLoad = Measured & {
  /** CPU time of all server threads per request. */
  cpuMicros: number;
  /** CPU time per request of the busiest thread. */
  busiestThreadMicros: number;
};

export const cpuNote =
  'CPU µs is the measured process’s CPU time per request, across all threads. It is less ' +
  'sensitive than the rates to other work on the machine.';

export async function loadOf(subject: Subject, options: Omit<Load, 'url'>): Promise<MeasuredLoad> {
  const before = threadMicros(subject.pid);
  const measured = await load({ ...options, url: subject.url });
  const used = [...threadMicros(subject.pid)].map(
    ([thread, micros]) => micros - (before.get(thread) ?? 0),
  );
  const total = used.reduce((sum, micros) => sum + micros, 0);
  return {
    ...measured,
    cpuMicros: total / measured.requests,
    busiestThreadMicros: Math.max(...used) / measured.requests,
  };
}

export type Figures<Name extends string> = Partial<Record<Name, MeasuredLoad[]>>;

/** Returns the rate of `one` as a multiple of the rate of `other`. */
export function rateRatio<Name extends string>(
  figures: Figures<Name>,
  one: Name,
  other: Name,
): Ratio {
  const rates = (name: Name) => (figures[name] ?? []).map(({ perSecond }) => perSecond);
  return ratioOf(rates(one), rates(other));
}

const columns = {
  'per second': 'perSecond',
  'CPU µs': 'cpuMicros',
  'p50 ms': 'p50Ms',
  'p99 ms': 'p99Ms',
  'worst ms': 'maxMs',
} as const;

/**
 * Returns a table of `what`, with the medians of each measured subject. The last column is its rate
 * relative to `reference`.
 */
export function loadTable<Name extends string>(
  { title, what }: { title: string; what: string },
  figures: Figures<Name>,
  names: Record<Name, string>,
  { name: reference, title: relative }: { name: Name; title: string },
): Table {
  const measured = (Object.keys(names) as Name[]).filter((name) => name in figures);
  const rows = measured.map((name) => [
    names[name],
    ...Object.values(columns).map((column) =>
      short(median((figures[name] ?? []).map((one) => one[column]))),
    ),
    showRatio(rateRatio(figures, name, reference)),
  ]);
  return { title, head: [what, ...Object.keys(columns), `relative to ${relative}`], rows };
}
