import { fstatSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { limits } from '../sdk/contract/limits.ts';
import type { Metadata } from '../sdk/index.ts';
import { Argument, InvalidArgumentError, Option } from './commander.ts';
import { usageError } from './errors.ts';
import type { Terminal } from './terminal/terminal.ts';

/* Options shared by several commands, and the parsers of their values. */

/* Copied from the contract to avoid loading it. The type checker keeps both values equal. */
export const pageItems: (typeof limits)['pageItems'] = 100;

export const memoryId = new Argument('<id>', 'the id of the memory').argParser(parseId);

export const userOption = userOptionFor('the user; optional if the key is bound to a user');
export function userOptionFor(description: string) {
  return new Option('-u, --user <id>', description).argParser(parseName);
}

export const metadataOption = new Option(
  '-m, --metadata <key=value>',
  'key=value for a string, key:=json for any JSON value; may be repeated',
).argParser(addMetadata);
export const sourceOption = new Option(
  '--source <name>',
  'the source system, for example zendesk',
).argParser(parseName);
export function externalIdOptionFor(effect: string) {
  const description = `the id in the source system; ${effect}`;
  return new Option('--external-id <id>', description).argParser(parseName);
}
export const externalIdOption = externalIdOptionFor(
  'ingesting the same id again updates the memory',
);

/** Leaves room for the rest of the keys of a command that sends several requests. */
export const idempotencyKeyOption = new Option(
  '--idempotency-key <key>',
  'a retry with the same key has no further effect',
).argParser((key) => {
  if (/^[\x21-\x7e]{1,200}$/.test(key)) return key;
  throw new InvalidArgumentError('It must be 1 to 200 visible ASCII characters.');
});

export const errorsOutOption = new Option(
  '--errors-out <file>',
  'write each invalid line to this file, as JSON with its line number and the error',
);

export const waitOption = new Option('--wait', 'wait until processing ends');
export const timeoutOption = new Option(
  '--timeout <time>',
  'wait at most this long, for example 90s or 5m',
)
  .argParser(parseTime)
  .default(60_000, '60s')
  .implies({ wait: true });

export const occurredOption = new Option(
  '--occurred <time>',
  'when the event happened, for example 2026-05-08 or 2026-05-08T13:56:07Z',
).argParser(parseMoment);

export const expiryOption = new Option(
  '--expires <time>',
  'when the memory expires, for example 30d, 12h or 2026-05-08',
).argParser(parseExpiry);

/** The metadata and the times in an update, where `none` removes them. */
export const newMetadataOption = new Option(
  '-m, --metadata <key=value>',
  'replace all metadata: key=value, key:=json, or none; may be repeated',
).argParser((pair: string, previous: Metadata | undefined) => {
  const isNone = pair === none;
  // Only none leaves no metadata.
  if (previous !== undefined && isNone !== (Object.keys(previous).length === 0)) {
    throw new InvalidArgumentError('none cannot be combined with key=value.');
  }
  return isNone ? {} : addMetadata(pair, previous);
});

export const newOccurredOption = new Option(
  '--occurred <time>',
  'when the event happened, or none to remove the time',
).argParser(orNone(parseMoment));

export const newExpiryOption = new Option(
  '--expires <time>',
  'when the memory expires, for example 30d, or none for never',
).argParser(orNone(parseExpiry));

export const ifVersionOption = new Option(
  '--if-version <number>',
  'proceed only if the memory is at this version',
).argParser(
  numberIn([1, Number.MAX_SAFE_INTEGER], 'a version number as shown by memory get, 1 or higher'),
);

/** Rejects an unset variable of a shell, and a second value, which would silently win. */
export function parseName(name: string, previous?: string): string {
  if (name !== '' && previous === undefined) return name;
  throw new InvalidArgumentError('It can be given only once, and must not be empty.');
}

/** Rejects empty ids and ids of only dots and spaces, which would change the request path. */
export function parseId(id: string): string {
  if (!/^[.\s]*$/.test(id)) return id;
  throw new InvalidArgumentError('An id begins with mem_ or key_.');
}

export const parseLimit = numberIn([1, pageItems], `a number from 1 to ${pageItems}`);

/** Returns a parser for a whole number in this range, which `expected` describes. */
export function numberIn([min, max]: [number, number], expected: string) {
  return (text: string): number => {
    const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (number >= min && number <= max) return number;
    throw new InvalidArgumentError(`It must be ${expected}.`);
  };
}

const unitMs: Record<string, number> = { s: 1e3, m: 6e4, h: 36e5, d: 864e5, '': 1e3 };

/** Returns a duration in milliseconds. A number without a unit is in seconds. */
function parseTime(text: string): number {
  const [, amount = '', unit = ''] = /^(\d{1,7}(?:\.\d+)?)(s|m|h|d)?$/.exec(text) ?? [];
  const ms = Number(amount) * (unitMs[unit] ?? 0);
  if (ms > 0) return ms;
  throw new InvalidArgumentError('Use a duration such as 90s, 5m, 12h or 30d.');
}

/**
 * Returns the current time plus a duration. A number without a unit is rejected, because it could
 * mean seconds or days.
 */
export function parseLifetime(text: string): string {
  if (/[smhd]$/.test(text)) return shiftedBy(parseTime(text));
  throw new InvalidArgumentError('Use a duration with a unit, such as 90d, 12h or 30m.');
}

/** A year with more than four digits has no place in an RFC 3339 time. */
function shiftedBy(ms: number): string {
  const time = new Date(Date.now() + ms).toISOString();
  if (/^\d{4}-/.test(time)) return time;
  throw new InvalidArgumentError('The time is not in the years 0 to 9999.');
}

const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** Parses a year, month, day or RFC 3339 time; `2026-05` is the start of that month in UTC. */
export function parseMoment(text: string): string {
  return momentIn(text, 'Use a date or time such as 2026-05, 2026-05-08 or 2026-05-08T13:56:07Z.');
}

function momentIn(text: string, advice: string): string {
  const [, year, month = '01', day = '01'] = /^(\d{4})(?:-(\d\d)(?:-(\d\d))?)?$/.exec(text) ?? [];
  const time = year === undefined ? text : `${year}-${month}-${day}T00:00:00Z`;
  if (moment.test(time) && !Number.isNaN(Date.parse(time))) return time;
  throw new InvalidArgumentError(advice);
}

/** Parses a point in time, or a duration before now: `3d` is the time three days ago. */
export function parseBound(text: string): string {
  const isDuration = /^\d+(?:\.\d+)?[smhd]$/.test(text);
  if (isDuration) return shiftedBy(-parseTime(text));
  return momentIn(
    text,
    'Use a time such as 2026-05, 2026-05-08 or 2026-05-08T13:56:07Z, or 3d (ago).',
  );
}

/** Commander does not accept null as the value of an option. */
export const none = 'none';

function orNone(parse: (text: string) => string) {
  return (text: string) => (text === none ? none : parse(text));
}

/** Parses a duration from now, or a point in time, which must be in the future. */
function parseExpiry(text: string): string {
  if (/^\d{4}(?:-|$)/.test(text)) {
    const time = parseMoment(text);
    if (Date.parse(time) > Date.now()) return time;
    throw new InvalidArgumentError('The time is in the past: the memory would expire immediately.');
  }
  if (/^\d.*[smhd]$/.test(text)) return parseLifetime(text);
  throw new InvalidArgumentError(
    'Use a duration such as 90d, 12h or 30m, or a date such as 2026-12-01.',
  );
}

export function addMetadata(pair: string, previous: Metadata | undefined): Metadata {
  const at = pair.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Use key=value or key:=json.');
  const name = pair.slice(0, at);
  const value = pair.slice(at + 1);
  const key = name.endsWith(':') ? name.slice(0, -1) : name;
  if (previous !== undefined && Object.hasOwn(previous, key)) {
    throw new InvalidArgumentError('Each key can be given only once.');
  }
  return { ...previous, [key]: key === name ? value : parseValue(value) };
}

function parseValue(json: string): Metadata[string] {
  try {
    return JSON.parse(json);
  } catch {
    throw new InvalidArgumentError(
      `The value after := must be JSON, as in count:=3 or tags:='["a"]'.`,
    );
  }
}

export function writeOptions(
  term: Terminal,
  { idempotencyKey, ifVersion }: { idempotencyKey?: string | undefined; ifVersion?: number },
) {
  return { signal: term.interrupted, ...definedOnly({ idempotencyKey, ifVersion }) };
}

export function definedOnly<Fields extends Record<string, unknown>>(fields: Fields) {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> };
}

/**
 * Rejects an --errors-out file that is the input file. Compares device and inode, because several
 * paths can refer to one file.
 */
export function rejectOverwrite({ cwd }: Terminal, file: string, errorsOut?: string): void {
  if (errorsOut === undefined) return;
  const statOf = (path: string) => statSync(resolve(cwd, path), { throwIfNoEntry: false });
  const [one, other] = [file === '-' ? fstatSync(0) : statOf(file), statOf(errorsOut)];
  const isSame = one?.isFile() && one.dev === other?.dev && one.ino === other.ino;
  if (isSame) throw usageError('--errors-out would overwrite the input file.');
}
