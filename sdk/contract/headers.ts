/** Names of the headers that the contract defines, as they are written on the wire. */
export const headers = {
  authorization: 'Authorization',
  idempotencyKey: 'Idempotency-Key',
  idempotencyStatus: 'Idempotency-Status',
  ifMatch: 'If-Match',
  requestId: 'X-Request-Id',
  retryAfter: 'Retry-After',
  rateLimit: 'RateLimit',
  rateLimitPolicy: 'RateLimit-Policy',
} as const;

/** Headers that the SDK does not use, in a separate object to keep its bundle small. */
export const validators = { ifNoneMatch: 'If-None-Match', etag: 'ETag' } as const;

/**
 * The value of `Idempotency-Status`: `created` if the write ran now, `replayed` if its stored
 * response was returned.
 */
export type IdempotencyStatus = 'created' | 'replayed';
