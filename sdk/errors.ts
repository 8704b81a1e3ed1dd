import type { ErrorCode, FieldError } from './contract/errors.ts';
import type { IngestStatus } from './contract/status.ts';

/** The details of a failed call. Not every failure has a response. */
export type ErrorFacts = {
  status?: number | undefined;
  code?: string | undefined;
  details?: FieldError[] | undefined;
  requestId?: string | undefined;
  attempts?: number | undefined;
  idempotencyKey?: string | undefined;
  retryAfterMs?: number | undefined;
  memoryId?: string;
  ingestStatus?: IngestStatus | undefined;
  cause?: unknown;
};

/**
 * The base class of all errors that this SDK throws. Catch the subclasses that you can handle:
 *
 * ```ts
 * try {
 *   await memory.get(id);
 * } catch (error) {
 *   if (error instanceof NotFoundError) return null;
 *   throw error;
 * }
 * ```
 */
export class MemoryServiceError extends Error {
  // The constructor sets the fields. `declare` emits no code and so keeps the bundle small.
  /** The HTTP status; undefined if there was no response. */
  declare readonly status: number | undefined;
  /** A stable code, defined by the contract or by this SDK (`connection`, `timeout`, …). */
  declare readonly code: ErrorCode | (string & {});
  /** The invalid fields, each with a message; empty unless the request was invalid. */
  declare readonly details: FieldError[];
  /** Identifies the request in the server's log. */
  declare readonly requestId: string | undefined;
  /** The number of requests that were sent; 0 if the call failed before the first one. */
  declare readonly attempts: number;
  /** The idempotency key of the write. Repeat the call with this key to avoid a duplicate. */
  declare readonly idempotencyKey: string | undefined;
  /** The delay that the server requested before a retry, in milliseconds. */
  declare readonly retryAfterMs: number | undefined;

  constructor(message: string, facts: ErrorFacts = {}) {
    super(message, facts);
    Object.assign(this, { code: 'unexpected_answer', details: [], attempts: 0 }, facts);
  }
}

/**
 * The request or an option is invalid. Either the SDK rejected it before sending a request, or the
 * service returned 400, 405, 415 or another 4xx status that has no class of its own. See `details`.
 */
export class InvalidRequestError extends MemoryServiceError {}

/** The API key is missing or invalid (401). */
export class AuthenticationError extends MemoryServiceError {}

/** The API key does not permit the call: it is read-only, or bound to another user (403). */
export class PermissionError extends MemoryServiceError {}

/** The memory does not exist in this project, or the route does not exist (404). */
export class NotFoundError extends MemoryServiceError {}

/** The memory's version is not `ifVersion` (412). Read the memory again and repeat the change. */
export class PreconditionFailedError extends MemoryServiceError {}

/** The body is over the server's limit (413). Split the text or the batch. */
export class PayloadTooLargeError extends MemoryServiceError {}

/**
 * Too many requests, or too many records in the queue (429), after all retries. See `retryAfterMs`.
 */
export class RateLimitError extends MemoryServiceError {}

/** The service failed (5xx), or the response is not from the service (`unexpected_answer`). */
export class ServerError extends MemoryServiceError {}

/** No response: the server is unreachable, or the connection broke. `cause` has the reason. */
export class ConnectionError extends MemoryServiceError {}

/** An attempt, including its response body, exceeded `timeoutMs`, or the server sent a 408. */
export class TimeoutError extends MemoryServiceError {}

/** The `signal` aborted the call; `cause` is the signal's reason. A write may have been applied. */
export class AbortError extends MemoryServiceError {}

/**
 * Processing failed. `ingestStatus.errorMessage` has the reason; ingest the record again to retry.
 */
export class IngestFailedError extends MemoryServiceError {
  declare readonly ingestStatus: IngestStatus;
}

/**
 * The wait timed out before processing was complete. Nothing is lost: wait again with the same id.
 * `cause` is the error of the last failed request, if any.
 */
export class WaitTimeoutError extends MemoryServiceError {
  declare readonly memoryId: string;
  /** The last known status, if any. */
  declare readonly ingestStatus: IngestStatus | undefined;
}

// Set the names from strings, because a minifier renames the classes.
for (const [name, { prototype }] of Object.entries({
  MemoryServiceError,
  InvalidRequestError,
  AuthenticationError,
  PermissionError,
  NotFoundError,
  PreconditionFailedError,
  PayloadTooLargeError,
  RateLimitError,
  ServerError,
  ConnectionError,
  TimeoutError,
  AbortError,
  IngestFailedError,
  WaitTimeoutError,
})) {
  prototype.name = name;
}
