import type { ErrorCode, FieldError } from '../../sdk/contract/errors.ts';
import { ServiceError } from '../errors.ts';

/**
 * The messages between threads: JSON text, then the large strings that it refers to. Bun passes
 * strings to another thread without copying them. JSON takes less than half the time of a
 * structured clone of the same objects.
 */

export type Message = [json: string, ...texts: string[]];

/**
 * A call: its number in this channel, the operation's name, its argument, and how many of the
 * message's strings belong to the call. The strings are in the order of the calls.
 */
export type Call = [id: number, operation: string, argument: unknown, texts: number];

/** The outcome of a call: either `value` or `error`. `texts` has the same meaning as in `Call`. */
export type Reply = { id: number; value?: unknown; error?: ThrownError; texts?: number };

/** An error as data. `code` is set for a ServiceError. */
export type ThrownError = {
  code?: ErrorCode;
  message: string;
  stack?: string | undefined;
  details?: FieldError[] | undefined;
  retryAfterSeconds?: number | undefined;
  cause?: ThrownError | undefined;
};

/** How often the HTTP thread sends 'ping' to every other thread. */
export const pingEveryMs = 400;

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
