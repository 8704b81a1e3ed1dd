import type { ErrorCode, errorTable } from './contract/errors.ts';
import { headers as names } from './contract/headers.ts';
import {
  AuthenticationError,
  type ErrorFacts,
  InvalidRequestError,
  type MemoryServiceError,
  NotFoundError,
  PayloadTooLargeError,
  RateLimitError,
  ServerError,
  TimeoutError,
} from './errors.ts';

type ErrorClass = new (message: string, facts: ErrorFacts) => MemoryServiceError;

type Status = (typeof errorTable)[ErrorCode]['status'];

/**
 * The contract's error table, read from status to class, and what only something between us and
 * the service would answer with. Its texts stay out of the bundle.
 */
const classes: Record<number, ErrorClass | undefined> = {
  400: InvalidRequestError,
  401: AuthenticationError,
  403: AuthenticationError,
  404: NotFoundError,
  405: InvalidRequestError,
  408: TimeoutError,
  413: PayloadTooLargeError,
  415: InvalidRequestError,
  429: RateLimitError,
  500: ServerError,
  503: ServerError,
} satisfies Record<Status | 403 | 408, ErrorClass>;

/**
 * Turns an answer that is not the wanted one into the error that it means. The status decides the
 * class, so that a proxy's page or an empty answer gets the right one too.
 */
export function errorOfAnswer(
  status: number,
  headers: Headers,
  body: Record<string, unknown> | undefined,
  facts: ErrorFacts,
): MemoryServiceError {
  const { error, message, details } = status >= 400 ? (body ?? {}) : {};
  const ErrorOfStatus = classOf(status);
  return new ErrorOfStatus(textOf(message) ?? strange(status, headers), {
    ...facts,
    status,
    code: textOf(error),
    details: Array.isArray(details) ? details : [],
    retryAfterMs: readRetryAfter(headers.get(names.retryAfter)),
  });
}

function classOf(status: number): ErrorClass {
  return classes[status] ?? (status >= 400 && status < 500 ? InvalidRequestError : ServerError);
}

function strange(status: number, headers: Headers): string {
  const found = headers.get('Location') ?? headers.get('Content-Type') ?? 'no content type';
  return `not an answer of the memory service: ${status}, ${found}`;
}

/** Whole seconds or an HTTP date, as milliseconds from now. */
function readRetryAfter(value: string | null): number | undefined {
  if (value === null) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
