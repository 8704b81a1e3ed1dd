import type { Goal } from './benchmark.ts';
import { type Ratio, showRatio } from './numbers.ts';

/** A goal for a ratio that is better the larger it is; `unit` follows the bound. */
export function atLeast(id: string, measure: string, ratio: Ratio, least: number, unit = ''): Goal {
  const figure = showRatio(ratio);
  return { id, measure, goal: `≥ ${least}${unit}`, figure, met: ratio.middle >= least };
}

/** And for one that is better the smaller it is. */
export function atMost(id: string, measure: string, ratio: Ratio, most: number): Goal {
  return { id, measure, goal: `≤ ${most}`, figure: showRatio(ratio), met: ratio.middle <= most };
}
