import type { ErrorCode, FieldError } from '../../sdk/contract/errors.ts';
import { ServiceError } from '../errors.ts';
import type { LogEntry, LogLevel } from '../log.ts';

/**
 * The messages between threads: JSON text, then the large strings that belong into it. Bun passes
 * strings to another thread without copying them. JSON takes less than half the time of a
 * structured clone of the same objects.
 */

export type Message = [json: string, ...texts: string[]];

/** The first message to a thread: its data, and the memory of the counts of this process. */
export type Start = { start: unknown; counts: SharedArrayBuffer; logLevel: LogLevel };

export function isStart(message: unknown): message is Start {
  return typeof message === 'object' && message !== null && 'counts' in message;
}

/** A thread will not respond for a while, or has an entry for the log, with its error as text. */
export type Report = { busyMs?: number; log?: LogEntry };

/**
 * A call: its number in this channel, the operation's name, its argument, and the paths of the
 * argument's large strings. The message has the strings in the order of the calls.
 */
export type Call = [id: number, operation: string, argument: unknown, large: Path[]];

/** The outcome of a call: either `value` or `error`. `large` has the same meaning as in `Call`. */
export type Reply = { id: number; value?: unknown; error?: ThrownError; large: Path[] };

/** The property names and indexes that lead to a string inside a value. */
type Path = string[];

/**
 * A longer string, in UTF-16 units, takes less time on its own than inside the JSON. This includes
 * the JSON of a response, whose quotes would be escaped.
 */
const largeUnits = 256;

/** Moves the large strings of a value to `texts`. Returns the rest, and where they were. */
export function detachLarge(value: unknown, texts: string[]): { rest: unknown; large: Path[] } {
  const large: Path[] = [];
  const path: Path = [];

  function withoutLarge(value: unknown): unknown {
    if (typeof value === 'string' && value.length > largeUnits) {
      texts.push(value);
      large.push([...path]);
      return '';
    }
    if (typeof value !== 'object' || value === null) return value;
    let rest = value;
    for (const key in value) {
      const item: unknown = Reflect.get(value, key);
      path.push(key);
      const without = withoutLarge(item);
      path.pop();
      if (without === item) continue;
      if (rest === value) rest = Array.isArray(value) ? [...value] : { ...value };
      Reflect.set(rest, key, without);
    }
    return rest;
  }

  return { rest: withoutLarge(value), large };
}

/** Puts the first of `texts` back to where they were, and removes them from `texts`. */
export function attachLarge(rest: unknown, large: readonly Path[], texts: string[]): unknown {
  if (large.length === 0) return rest;
  const root = { value: rest };
  for (const [index, text] of texts.splice(0, large.length).entries()) {
    const path: Path = ['value', ...(large[index] ?? [])];
    const last = path.pop() ?? 'value';
    const owner = path.reduce((inside, key) => Reflect.get(inside, key) as object, root as object);
    Reflect.set(owner, last, text);
  }
  return root.value;
}

/** An error as data. `code` is set for a ServiceError. */
type ThrownError = {
  code?: ErrorCode;
  message: string;
  stack?: string | undefined;
  details?: FieldError[] | undefined;
  retryAfterSeconds?: number | undefined;
  cause?: ThrownError | undefined;
};

/** How often the HTTP thread sends 'ping' to every other thread. */
export const pingEveryMs = 300;

export const ticksIn = (ms: number) => Math.round(ms / pingEveryMs);

export function packError(error: unknown): ThrownError {
  if (!(error instanceof Error)) return { message: `a value of type ${typeof error} was thrown` };
  const { message, stack } = error;
  const cause = error.cause === undefined ? undefined : packError(error.cause);
  const thrown = { message, stack, cause };
  if (!(error instanceof ServiceError)) return thrown;
  const { code, details, retryAfterSeconds } = error;
  return { ...thrown, code, details, retryAfterSeconds };
}

export function unpackError(thrown: ThrownError): Error {
  const cause = thrown.cause === undefined ? undefined : unpackError(thrown.cause);
  const { code, message, details, retryAfterSeconds } = thrown;
  const error =
    code === undefined
      ? new Error(message, { cause })
      : new ServiceError(code, message, { details, retryAfterSeconds, cause });
  if (thrown.stack !== undefined) error.stack = thrown.stack;
  return error;
}
