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

export const loadColumns = ['per second', 'CPU µs', 'p50 ms', 'p99 ms', 'worst ms'];

/** Returns the medians of a subject's measurements, in the order of `loadColumns`. */
export function loadCells(measured: readonly MeasuredLoad[] = []): string[] {
  const middle = (pick: (one: MeasuredLoad) => number) => short(median(measured.map(pick)));
  return [
    middle(({ perSecond }) => perSecond),
    middle(({ cpuMicros }) => cpuMicros),
    middle(({ p50Ms }) => p50Ms),
    middle(({ p99Ms }) => p99Ms),
    middle(({ maxMs }) => maxMs),
  ];
}

export type Figures<Name extends string> = Partial<Record<Name, MeasuredLoad[]>>;

export function rates(measured: readonly MeasuredLoad[] = []): number[] {
  return measured.map(({ perSecond }) => perSecond);
}

/** Returns the rate of `one` as a multiple of the rate of `other`. */
export function rateRatio<Name extends string>(
  figures: Figures<Name>,
  one: Name,
  other: Name,
): Ratio {
  return ratioOf(rates(figures[one]), rates(figures[other]));
}

export function measuredNames<Name extends string>(
  figures: Figures<Name>,
  names: Record<Name, string>,
): Name[] {
  return (Object.keys(names) as Name[]).filter((name) => name in figures);
}

/** Returns one row per measured subject. The last cell is its rate relative to `reference`. */
export function loadRows<Name extends string>(
  figures: Figures<Name>,
  names: Record<Name, string>,
  reference: Name,
): string[][] {
  return measuredNames(figures, names).map((name) => [
    names[name],
    ...loadCells(figures[name]),
    showRatio(rateRatio(figures, name, reference)),
  ]);
}
