/**
 * The one error table. The server reads it from code to status, the SDK from code to error class,
 * the command line from there to an exit code.
 */
export const errorTable = {
  invalid_request: { status: 400, when: 'a field is missing or invalid, or the JSON is malformed' },
  idempotency_key_reused: {
    status: 400,
    when: 'the idempotency key came before with another request',
  },
  unauthorized: { status: 401, when: 'the API key is missing or not accepted' },
  forbidden: { status: 403, when: 'the API key may not do this' },
  not_found: { status: 404, when: 'no such memory, or no such route' },
  method_not_allowed: { status: 405, when: 'the route exists, but not with this method' },
  precondition_failed: { status: 412, when: 'If-Match names another version' },
  payload_too_large: { status: 413, when: 'the body is over the limit' },
  unsupported_media_type: { status: 415, when: 'the body is not plain application/json' },
  rate_limited: { status: 429, when: 'too many requests, or too many records waiting' },
  internal: {
    status: 500,
    when: 'a fault of the service; the outcome is unknown, retry with the same Idempotency-Key',
  },
  unavailable: { status: 503, when: 'shutting down, the disk is full, or the database is away' },
} as const;

export type ErrorCode = keyof typeof errorTable;

/** One invalid field: its dotted path (empty for the body as a whole) and what is wrong with it. */
export type FieldError = { field: string; message: string };

/** The body of every error answer. */
export type ErrorBody = {
  error: ErrorCode;
  message: string;
  details?: FieldError[];
  requestId: string;
};
