import type { ParseError, ParseOptions } from 'jsonc-parser';

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
