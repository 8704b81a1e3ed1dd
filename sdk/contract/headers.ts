/** Names of the headers that the contract gives a meaning to, as they are written on the wire. */
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

/** Of conditional requests that the SDK does not send; apart, so that its bundle stays small. */
export const validators = { ifNoneMatch: 'If-None-Match', etag: 'ETag' } as const;

/** What `Idempotency-Status` says: this answer was made now, or it is the stored first answer. */
export type IdempotencyStatus = 'created' | 'replayed';
