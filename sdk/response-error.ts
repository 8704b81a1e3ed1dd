import type { ErrorCode, errorTable } from './contract/errors.ts';
import * as names from './contract/headers.ts';
import {
  AuthenticationError,
  type ErrorFacts,
  InvalidRequestError,
  type MemoryServiceError,
  NotFoundError,
  PayloadTooLargeError,
  PermissionError,
  PreconditionFailedError,
  RateLimitError,
  ServerError,
  TimeoutError,
} from './errors.ts';

type ErrorClass = new (message: string, facts: ErrorFacts) => MemoryServiceError;

type Status = (typeof errorTable)[ErrorCode]['status'];

/**
 * Maps statuses of the contract and of proxies to error classes. This table repeats the contract's
 * statuses to keep the descriptions of `errorTable` out of the bundle.
 */
const classes: Record<number, ErrorClass | undefined> = {
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  408: TimeoutError,
  412: PreconditionFailedError,
  413: PayloadTooLargeError,
  429: RateLimitError,
} satisfies Record<Exclude<Status, 400 | 405 | 415 | 500 | 503> | 408, ErrorClass>;

/**
 * Creates the error for an unexpected response. Only the status determines the error class, because
 * a proxy's response may have an HTML body or no body at all.
 */
export function errorFromResponse(
  status: number,
  headers: Headers,
  body: Record<string, unknown>,
  facts: ErrorFacts,
): MemoryServiceError {
  const { error, message, details } = status < 400 ? {} : body;
  const isClientError = status >= 400 && status < 500;
  const ErrorOfStatus = classes[status] ?? (isClientError ? InvalidRequestError : ServerError);
  return new ErrorOfStatus(textOf(message) ?? unexpected(status, headers), {
    ...facts,
    status,
    code: textOf(error) ?? 'unexpected_answer',
    details: Array.isArray(details) ? details : [],
    retryAfterMs: readRetryAfter(headers.get(names.retryAfter) ?? 'none'),
  });
}

function unexpected(status: number, headers: Headers): string {
  const found = headers.get('Location') ?? headers.get('Content-Type') ?? 'no content type';
  // Browsers hide the status and the headers of a redirect, for example to a login page.
  return `not a response from the memory service: ${status ? `${status}, ${found}` : 'a redirect'}`;
}

/** Converts whole seconds or an HTTP date to milliseconds from now. */
function readRetryAfter(value: string): number | undefined {
  const ms = Number(value) >= 0 ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return ms >= 0 ? ms : undefined;
}

function textOf(value: unknown): string | undefined {
  return (typeof value === 'string' && value) || undefined;
}
