/** The problem of 1e400, and of a whole number such as 2^53 + 1. */
export const inexactNumber = 'must not contain a number that a double cannot hold; use a string';

/**
 * A reviver for JSON.parse. Replaces a whole number of which a double loses digits with Infinity,
 * which JSON.parse also returns for 1e400, so that validation rejects both.
 */
export function exactNumber(
  _name: string,
  value: unknown,
  { source = '' }: { source?: string } = {},
): unknown {
  return typeof value === 'number' && losesDigits(source) ? Number.POSITIVE_INFINITY : value;
}

/** Whether a number in JSON is a whole number of which a double loses digits. */
export function losesDigits(source: string): boolean {
  return /^-?[1-9]\d{15,}$/.test(source) && String(Number(source)) !== source;
}

/**
 * Whether a value that was parsed with `exactNumber` contains a number that a double cannot hold.
 * Check this before the value is sent on as JSON: JSON.stringify() turns Infinity into null.
 */
export function holdsInexact(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(holdsInexact);
  // Object.values() takes thirty times as long.
  for (const name in value) if (holdsInexact(value[name as keyof typeof value])) return true;
  return false;
}
