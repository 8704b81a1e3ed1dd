import type { Bound, Goal } from './benchmark.ts';
import { type Ratio, short, showRatio } from './numbers.ts';

type Options = { unit?: string; baseline?: Ratio | undefined; notJudged?: string | undefined };

type MakeGoal = (id: string, measure: string, figure: Ratio, limit: number, more?: Options) => Goal;

/** Returns a goal with a lower bound for its figure. `unit` is shown after the bound. */
export const atLeast = goalsWith('at least');

/** Returns a goal with an upper bound for its figure. */
export const atMost = goalsWith('at most');

function goalsWith(kind: Bound['kind']): MakeGoal {
  return (id, measure, figure, limit, { unit = '', baseline, notJudged } = {}) => ({
    ...{ id, measure, bound: { kind, limit, unit }, figure },
    ...(baseline !== undefined && { baseline }),
    ...(notJudged !== undefined && { notJudged }),
  });
}

/** Renders a goal as a row of the report. */
export function goalRow({ id, measure, bound, figure, baseline, notJudged }: Goal): string[] {
  const sign = bound.kind === 'at least' ? '≥' : '≤';
  return [
    ...[id, measure, `${sign} ${bound.limit}${bound.unit}`, showFigure(figure)],
    baseline === undefined ? '' : showFigure(baseline),
    notJudged === undefined ? resultOf(bound, figure) : `not evaluated: ${notJudged}`,
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
