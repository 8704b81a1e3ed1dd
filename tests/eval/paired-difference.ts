import { quantile } from '../bench/kit/numbers.ts';
import { createRandom } from '../support/random.ts';

/** The mean of the differences between two lists of scores, with its bootstrap interval. */
type Difference = { mean: number; low: number; high: number };

const resamples = 10_000;

/** Compares the scores of the same questions. The interval covers 95 % of the resampled means. */
export function pairedDifference(before: number[], after: number[]): Difference {
  const differences = after.map((score, index) => score - (before[index] ?? 0));
  const random = createRandom(1);
  const means = Array.from({ length: resamples }, () =>
    averageOf(differences.map(() => random.pick(differences))),
  );
  const [low, high] = [quantile(means, 0.025), quantile(means, 0.975)];
  return { mean: averageOf(differences), low, high };
}

export function averageOf(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
