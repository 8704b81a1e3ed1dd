import { Kind, type SchemaOptions, type TSchema, Type, TypeRegistry } from '@sinclair/typebox';
import { limits } from './limits.ts';
import { inexactNumber } from './numbers.ts';
import { firstMs, isDate, isRepresentable, isRfc3339, lastMs, pointInTimeMs } from './times.ts';

/*
 * Kinds of values that JSON Schema alone cannot validate: lengths in code points (TypeBox counts
 * UTF-16 units), text that can be stored and returned unchanged, and free-form JSON within bounds.
 * Each kind has one function that returns the problem with a value, or null.
 *
 * The `title` of a schema is its name among the components of the OpenAPI document.
 */

/** A string of `min` to `max` code points, without NUL and without lone surrogates. */
export function Text(
  options: {
    min?: number;
    max?: number;
    title?: string;
    description?: string;
    examples?: string[];
  } = {},
) {
  const { min = 1, max, ...annotations } = options;
  return Type.Unsafe<string>({
    [Kind]: 'Text',
    type: 'string',
    minLength: min,
    // The pattern is only for the OpenAPI document. `textProblem` has better error messages.
    pattern: '^[^\\x00]*$',
    ...(max === undefined ? {} : { maxLength: max }),
    ...annotations,
  });
}

/**
 * A string in a response. Clients must accept unknown values, because later versions may add some.
 */
export function OpenEnum<const T extends string>(values: readonly T[], description: string) {
  const known = values.map((value) => `\`${value}\``).join(', ');
  return Type.Unsafe<T>(
    Type.String({
      description: `${description} One of ${known}; later versions may add others.`,
      'x-extensible-enum': values,
      examples: values.slice(0, 1),
    }),
  );
}

export function Count(description?: string) {
  return Type.Integer({ minimum: 0, ...(description !== undefined && { description }) });
}

/** A `PointInTime`, whole milliseconds since 1970, or an empty string, which counts as omitted. */
export const Timestamp = Type.Unsafe<string | number>({
  [Kind]: 'Timestamp',
  title: 'Timestamp',
  anyOf: [
    { type: 'string', format: 'date-time' },
    { type: 'integer', minimum: firstMs, maximum: lastMs },
  ],
  description:
    'An RFC 3339 time, a date (midnight UTC), or whole milliseconds since 1970. An empty ' +
    'string counts as omitted.',
  examples: ['2026-11-19T08:30:00Z'],
});

/** An RFC 3339 time as the service writes it. */
export const Instant = Type.Unsafe<string>({
  [Kind]: 'Instant',
  type: 'string',
  format: 'date-time',
  description: 'RFC 3339, UTC, with milliseconds.',
});

/** A time in a request: RFC 3339, or a date, which is interpreted as midnight UTC. */
export const PointInTime = Type.Unsafe<string>({
  [Kind]: 'PointInTime',
  type: 'string',
  format: 'date-time',
  description: 'An RFC 3339 time, or a date (`2026-05-08`), which is interpreted as midnight UTC.',
  examples: ['2026-05-08T13:56:07Z'],
});

/** Describes what a time means. */
export function described(time: TSchema, description: string) {
  return Type.Unsafe<string>({ ...time, description });
}

/** A `PointInTime`, or an empty string, which counts as omitted. */
export const OptionalTime = Type.Unsafe<string>({ ...PointInTime, [Kind]: 'OptionalTime' });

/** A field that is null if it has no value. */
export function Nullable<T extends TSchema>(schema: T, options: SchemaOptions = {}) {
  return Type.Union([schema, Type.Null()], options);
}

/** An optional field. Responses show an omitted field as null, so requests may contain null too. */
export function Nullish<T extends TSchema>(schema: T) {
  const description = `${schema.description ?? ''} Null counts as omitted.`.trim();
  return Type.Optional(Nullable(schema, { description }));
}

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | JsonValue[]
  | { [key: string]: JsonValue };

/** A JSON object with free-form keys, bounded in bytes and depth. */
export type Metadata = { [key: string]: JsonValue };
export const Metadata = Type.Unsafe<Metadata>({
  [Kind]: 'Metadata',
  title: 'Metadata',
  type: 'object',
  additionalProperties: true,
  description:
    `An object with free-form keys: at most ${limits.metadataBytes} bytes as JSON, including the ` +
    `descriptive fields of a record, and at most ${limits.metadataLevels} levels deep. Strings must not ` +
    'contain U+0000, and no key may be `__proto__`, `constructor` or `prototype`.',
  examples: [{ source: 'chat' }],
});

function textProblem(value: unknown, { minLength, maxLength: max }: TSchema): string | null {
  if (typeof value !== 'string') return 'must be a string';
  if (value.length < minLength) return 'must not be empty';
  // A string has at most as many code points as UTF-16 units, so only long strings are counted.
  if (max !== undefined && value.length > max) {
    const count = codePoints(value);
    if (count > max) return `must be at most ${max} characters, not ${count}`;
  }
  return unstorable(value);
}

function timestampProblem(value: unknown): string | null {
  if (value === '') return null;
  const isMs = typeof value === 'number' && Number.isInteger(value) && isRepresentable(value);
  if (isMs || pointInTimeProblem(value) === null) return null;
  return 'must be an RFC 3339 time, a date (YYYY-MM-DD) or an integer number of milliseconds since 1970';
}

function instantProblem(value: unknown): string | null {
  const at = typeof value === 'string' && isRfc3339(value) ? Date.parse(value) : Number.NaN;
  // In UTC, the year may have more than four digits, and such a time could not be returned.
  const named = !Number.isNaN(at) && /^\d{4}-/.test(new Date(at).toISOString());
  return named ? null : 'must be an RFC 3339 time';
}

function optionalTimeProblem(value: unknown): string | null {
  return value === '' ? null : pointInTimeProblem(value);
}

function pointInTimeProblem(value: unknown): string | null {
  const isTime = typeof value === 'string' && (isDate(value) || isRfc3339(value));
  if (isTime && isRepresentable(pointInTimeMs(value))) return null;
  return 'must be an RFC 3339 time or a date (YYYY-MM-DD)';
}

export function metadataProblem(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return 'must be an object';
  }
  const problem = jsonProblem(value, 1, { values: limits.metadataBytes });
  if (problem !== null) return problem;
  const json = JSON.stringify(value);
  if (json.length * maxBytesPerUnit <= limits.metadataBytes) return null;
  const bytes = new TextEncoder().encode(json).length;
  return bytes <= limits.metadataBytes ? null : `${tooLong}, not ${bytes}`;
}

/** The maximum number of UTF-8 bytes per UTF-16 unit. */
const maxBytesPerUnit = 3;
const tooLong = `must be at most ${limits.metadataBytes} bytes as JSON`;

/**
 * Returns the first problem inside a free-form JSON value, or null. Each value takes at least one
 * byte, so JSON with more values than the `budget` is too long.
 */
function jsonProblem(value: unknown, level: number, budget: { values: number }): string | null {
  budget.values -= 1;
  if (budget.values < 0) return tooLong; // mutate-ignore constant: each value takes two bytes
  if (typeof value === 'string') return unstorable(value);
  // 1e400 is valid JSON, but JSON.parse returns Infinity, and JSON.stringify writes it as null.
  if (typeof value === 'number' && !Number.isFinite(value)) return inexactNumber;
  if (typeof value !== 'object' || value === null) return null;
  if (level > limits.metadataLevels) return `must be at most ${limits.metadataLevels} levels deep`;
  const isList = Array.isArray(value);
  for (const inner of isList ? value : Object.keys(value)) {
    const problem = isList
      ? jsonProblem(inner, level + 1, budget)
      : (keyProblem(inner) ??
        jsonProblem((value as Record<string, unknown>)[inner], level + 1, budget));
    if (problem !== null) return problem;
  }
  return null;
}

function keyProblem(key: string): string | null {
  if (key === '__proto__' || key === 'constructor' || key === 'prototype') {
    return `must not use the key "${key}"`;
  }
  return unstorable(key);
}

/** Returns why a string cannot be stored and returned unchanged, or null if it can. */
function unstorable(text: string): string | null {
  if (!text.isWellFormed()) return 'must be valid Unicode, without lone surrogates';
  return text.includes('\0') ? 'must not contain the character U+0000' : null;
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** For each kind, returns the problem with a value, or null. */
export const kindProblems: Record<string, (value: unknown, schema: TSchema) => string | null> = {
  Text: textProblem,
  Timestamp: timestampProblem,
  Instant: instantProblem,
  OptionalTime: optionalTimeProblem,
  PointInTime: pointInTimeProblem,
  Metadata: metadataProblem,
};
for (const [kind, problem] of Object.entries(kindProblems)) {
  TypeRegistry.Set<TSchema>(kind, (schema, value) => problem(value, schema) === null);
}
