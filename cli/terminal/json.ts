import type { ParseError, ParseOptions } from 'jsonc-parser';

/** The service's wording. The CLI checks this itself: JSON.stringify() turns Infinity into null. */
export const soLarge = 'must not contain a number outside the range of a double';

/** Whether `value` contains a non-finite number: 1e400 is valid JSON but parses to Infinity. */
export function holdsSoLarge(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsSoLarge);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Describes the first syntax error, for example `comma expected at line 3, column 5`. */
export async function jsonSyntaxError(text: string, options: ParseOptions) {
  // Imported on demand: JSON.parse is enough for a file without errors.
  const { parse, printParseErrorCode } = await import('jsonc-parser');
  const errors: ParseError[] = [];
  parse(text, errors, options);
  const [first] = errors;
  if (first === undefined) return undefined;
  const words = printParseErrorCode(first.error).replace(/(?<=[a-z])(?=[A-Z])/g, ' ');
  const before = text.slice(0, first.offset);
  const column = first.offset - before.lastIndexOf('\n');
  return `${words.toLowerCase()} at line ${before.split('\n').length}, column ${column}`;
}
