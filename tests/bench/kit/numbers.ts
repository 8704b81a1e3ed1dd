/** Returns the median of the values, or NaN if there are none. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Returns the value at the quantile `share` by the nearest-rank method, without interpolation. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN;
}

/** Returns the median of the last third of the values, relative to that of the middle third. */
export function growthOf(values: readonly number[]): number {
  const third = Math.floor(values.length / 3);
  return median(values.slice(-third)) / median(values.slice(third, 2 * third));
}

/** The median, lowest and highest value of a figure, usually a ratio of two subjects. */
export type Ratio = { median: number; low: number; high: number };

/** Compares round by round, so that temporary slowdowns of the whole machine cancel out. */
export function ratioOf(ones: readonly number[], others: readonly number[]): Ratio {
  return spreadOf(ones.map((one, round) => one / (others[round] ?? Number.NaN)));
}

export function spreadOf(values: readonly number[]): Ratio {
  return { median: median(values), low: Math.min(...values), high: Math.max(...values) };
}

export function showRatio({ median, low, high }: Ratio): string {
  return `${short(median)} (${short(low)}–${short(high)})`;
}

/** Formats a value with three significant digits, or as a whole number if it is 100 or more. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(3)));
}

/** Formats a count. Powers of ten are shown as 10 with an exponent. */
export function showCount(count: number): string {
  const power = Math.log10(count);
  const digits = '⁰¹²³⁴⁵⁶⁷⁸⁹';
  return Number.isInteger(power) ? `10${digits[power] ?? ''}` : count.toLocaleString('en-US');
}

export function showBytes(bytes: number): string {
  return `${short(bytes / 1_000_000)} MB`;
}
