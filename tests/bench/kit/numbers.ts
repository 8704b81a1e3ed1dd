/** The middle of the values; NaN without any. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value that a share of the others do not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
}

/** One thing as a multiple of another, over rounds in which each was measured once. */
export type Ratio = { middle: number; low: number; high: number };

/** Compares round by round, so that what slows down the whole machine for a while cancels out. */
export function ratioOf(ones: readonly number[], others: readonly number[]): Ratio {
  const ratios = ones.map((one, round) => one / (others[round] ?? Number.NaN));
  return { middle: median(ratios), low: Math.min(...ratios), high: Math.max(...ratios) };
}

export function showRatio({ middle, low, high }: Ratio): string {
  return `${short(middle)} (${short(low)}–${short(high)})`;
}

/** Three significant digits, thousands parted. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(3)));
}

/** A size of a table as a power of ten where it is one. */
export function showCount(count: number): string {
  const power = Math.log10(count);
  const digits = '⁰¹²³⁴⁵⁶⁷⁸⁹';
  return Number.isInteger(power) ? `10${digits[power] ?? ''}` : count.toLocaleString('en-US');
}

export function showBytes(bytes: number): string {
  return `${short(bytes / 1_000_000)} MB`;
}
