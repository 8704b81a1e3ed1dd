import type { Bound, Goal } from './benchmark.ts';
import { type Ratio, short, showRatio } from './numbers.ts';

type Options = { unit?: string; baseline?: Ratio | undefined };

/** "at least" and "at most" set a lower and an upper bound. `unit` is shown after the bound. */
const goalsWith =
  (kind: Bound['kind']) =>
  (id: string, measure: string, figure: Ratio, limit: number, options: Options = {}): Goal => {
    const { unit = '', baseline } = options;
    return { id, measure, bound: { kind, limit, unit }, figure, baseline };
  };
export const atLeast = goalsWith('at least');
export const atMost = goalsWith('at most');

/** Renders a goal as a row of the report. */
export function goalRow({ id, measure, bound, figure, baseline }: Goal): string[] {
  const sign = bound.kind === 'at least' ? '≥' : '≤';
  return [
    ...[id, measure, `${sign} ${bound.limit}${bound.unit}`, showFigure(figure)],
    baseline === undefined ? '' : showFigure(baseline),
    resultOf(bound, figure),
  ];
}

/** Shows the median and, if the rounds differ, their spread. */
function showFigure(figure: Ratio): string {
  return figure.low === figure.high ? short(figure.median) : showRatio(figure);
}

/** If the best round met the goal, a single failed run is inconclusive. */
function resultOf({ kind, limit }: Bound, { median, low, high }: Ratio): string {
  const isMet = kind === 'at least' ? median >= limit : median <= limit;
  const isWithinSpread = kind === 'at least' ? high >= limit : low <= limit;
  if (isMet) return 'met';
  return isWithinSpread ? '**not met**, within the spread' : '**not met**';
}
