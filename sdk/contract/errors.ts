/**
 * Every error code, with its status and its condition. The compiler checks that the SDK has an
 * error class for each status.
 */
export const errorTable = {
  invalid_request: {
    status: 400,
    when: 'a field is missing or invalid, or the JSON is malformed',
    example: 'data.comments.2.content: must not be empty',
  },
  idempotency_key_reused: {
    status: 400,
    when: 'the idempotency key was already used with a different request',
    example:
      'this Idempotency-Key was already used with a different request; use a new key for each request',
  },
  unauthorized: {
    status: 401,
    when: 'the API key is missing or invalid',
    example: 'a valid API key is required: send the header "Authorization: Bearer <API_KEY>"',
  },
  forbidden: {
    status: 403,
    when: 'the API key does not permit this: it is read-only, bound to another user, or for metrics only',
    example: 'this API key is read-only',
  },
  not_found: {
    status: 404,
    when: 'the memory or the route does not exist',
    example: 'no memory has this id',
  },
  method_not_allowed: {
    status: 405,
    when: 'the route does not support this method',
    example: 'this route allows GET, HEAD, POST',
  },
  precondition_failed: {
    status: 412,
    when: 'the memory is not at the version in If-Match',
    example: 'the memory is at version 3, not 2; read it again and repeat the change',
  },
  payload_too_large: {
    status: 413,
    when: 'the body is over the limit',
    example: 'the body must be at most 5242880 bytes',
  },
  unsupported_media_type: {
    status: 415,
    when: 'the body is compressed, or its Content-Type is not application/json',
    example: 'send the body as JSON, with "Content-Type: application/json"',
  },
  rate_limited: {
    status: 429,
    when: 'too many requests were sent, or too many records are waiting to be processed',
    example: 'more than 6000 requests in 60 seconds; try again in 12 s',
  },
  internal: {
    status: 500,
    when: 'an unexpected error occurred; the outcome is unknown; retry with the same Idempotency-Key',
    example: 'internal error; the outcome is unknown; retry with the same Idempotency-Key',
  },
  unavailable: {
    status: 503,
    when: 'the service is stopping or overloaded, the disk is full, or the database is unavailable',
    example: 'the service is shutting down; try again shortly',
  },
} as const;

export type ErrorCode = keyof typeof errorTable;

/** One invalid field: its dotted path (empty for the body as a whole) and what is wrong with it. */
export type FieldError = { field: string; message: string };

/** Formats a field error as one line of text. */
export function sentence({ field, message }: FieldError): string {
  return field === '' ? message : `${field}: ${message}`;
}

/** The body of every error response. */
export type ErrorBody = {
  error: ErrorCode;
  message: string;
  details?: FieldError[];
  requestId: string;
};
