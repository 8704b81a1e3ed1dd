import { fstatSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { limits } from '../sdk/contract/limits.ts';
import { exactNumber, holdsInexact, inexactNumber } from '../sdk/contract/numbers.ts';
import { isDate, isRepresentable, isRfc3339, pointInTimeMs } from '../sdk/contract/times.ts';
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
export const externalIdOption = new Option(
  '--external-id <id>',
  'the id in the source system; the same id again updates the memory',
).argParser(parseName);

/** Shorter than the service's limit: bulk commands append the position. */
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

/** Returns a parser for a year, month, date or time, or for a duration from now or before now. */
function timeParser(sign: 1 | -1, advice: string) {
  return (text: string): string => {
    const isForm =
      /^\d{4}(-\d\d){0,2}$/.test(text) && isDate(text + '-01-01'.slice(text.length - 4));
    // As an expiry, 3600 may mean seconds.
    const isDay = isForm && (sign < 0 || text.includes('-'));
    const ms = isDay ? Date.parse(text) : Date.now() + sign * msOf(text);
    const time = isRfc3339(text) ? pointInTimeMs(text) : ms;
    if (isRepresentable(time) && (sign < 0 || time > Date.now())) return new Date(time).toJSON();
    throw new InvalidArgumentError(advice);
  };
}

export const parsePast = timeParser(
  -1,
  'Use a date or time such as 2026-05-08 or 2026-05-08T13:56:07Z, or 3d (ago).',
);
export const parseExpiry = timeParser(
  1,
  'Use a duration such as 90d, 12h or 30m, or a future date such as 2096-12-01.',
);

export const occurredOption = new Option(
  '--occurred <time>',
  'when the event happened, for example 2026-05-08 or 3d (ago), or none',
).argParser(orNone(parsePast));

export const expiryOption = new Option(
  '--expires <time>',
  'when the memory expires, for example 30d, 12h or 2096-05-08, or none',
).argParser(orNone(parseExpiry));

/** The metadata in an update, where `none` removes it. */
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

/** Rejects an unset variable of a shell. */
export function parseFile(name: string): string {
  if (name !== '') return name;
  throw usageError('A file name must not be empty.');
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

const unitMs: Record<string, number> = { s: 1e3, m: 6e4, h: 36e5, d: 864e5 };

/** Returns a duration in milliseconds, or NaN. */
function msOf(text: string): number {
  const [, amount, unit = ''] = /^(\d{1,7}(?:\.\d+)?)([smhd])$/.exec(text) ?? [];
  return Number(amount) * (unitMs[unit] ?? Number.NaN);
}

/** Returns a duration in milliseconds. A number without a unit is in seconds. */
function parseTime(text: string): number {
  const ms = msOf(/\d$/.test(text) ? `${text}s` : text);
  if (ms > 0) return ms;
  throw new InvalidArgumentError('Use a duration such as 90s, 5m, 12h or 30d.');
}

/** Commander does not accept null as the value of an option. */
const none = 'none';

function orNone(parse: (text: string) => string) {
  return (text: string) => (text === none ? none : parse(text));
}

export function timesOf(options: { occurred?: string | undefined; expires?: string | undefined }) {
  const orNull = (time: string | undefined) => (time === none ? null : time);
  return { occurredAt: orNull(options.occurred), expiresAt: orNull(options.expires) };
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
  let value: Metadata[string];
  try {
    value = JSON.parse(json, exactNumber);
  } catch {
    throw new InvalidArgumentError(
      `The value after := must be JSON, as in count:=3 or tags:='["a"]'.`,
    );
  }
  if (holdsInexact(value)) throw new InvalidArgumentError(`It ${inexactNumber}.`);
  return value;
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
