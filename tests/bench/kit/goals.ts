import type { Bound, Goal } from './benchmark.ts';
import { type Ratio, short } from './numbers.ts';

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

function isMet({ kind, limit }: Bound, { median }: Ratio): boolean {
  return kind === 'at least' ? median >= limit : median <= limit;
}

/** Renders a goal as a row of the report, from its results in one or more runs. */
export function goalRow(runs: readonly Goal[]): string[] {
  const [goal] = runs;
  if (goal === undefined) return [];
  const { id, measure, bound } = goal;
  const sign = bound.kind === 'at least' ? '≥' : '≤';
  const baseline = runs.flatMap((run) => run.baseline ?? []);
  return [
    id,
    measure,
    `${sign} ${bound.limit}${bound.unit}`,
    showFigure(runs.map(({ figure }) => figure)),
    baseline.length === 0 ? '' : showFigure(baseline),
    resultOf(runs),
  ];
}

/** Shows the median and the spread of one run's rounds, or the range of several runs' medians. */
function showFigure(figures: readonly Ratio[]): string {
  const [first] = figures;
  if (figures.length === 1 && first !== undefined) {
    const { median, low, high } = first;
    return low === high ? short(median) : `${short(median)} (${short(low)}–${short(high)})`;
  }
  const medians = figures.map(({ median }) => median);
  return `${short(Math.min(...medians))}–${short(Math.max(...medians))} in ${figures.length} runs`;
}

/** Returns the result of a goal. The goal is met only if every run met it. */
function resultOf(runs: readonly Goal[]): string {
  const why = runs.find(({ notJudged }) => notJudged !== undefined)?.notJudged;
  if (why !== undefined) return `not evaluated: ${why}`;
  const met = runs.filter(({ bound, figure }) => isMet(bound, figure)).length;
  if (met === runs.length) return 'met';
  const [only] = runs;
  if (runs.length === 1 && only !== undefined && isWithinSpread(only)) {
    return '**not met**, within the spread';
  }
  return met === 0 ? '**not met**' : `**not met** in ${runs.length - met} of ${runs.length} runs`;
}

/** Returns whether the best round met the goal. If so, a single failed run is inconclusive. */
function isWithinSpread({ bound, figure: { low, high } }: Goal): boolean {
  return bound.kind === 'at least' ? high >= bound.limit : low <= bound.limit;
}
