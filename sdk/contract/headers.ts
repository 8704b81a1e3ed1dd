/*
 * Names of the headers that the contract defines, as they are written on the wire. They are single
 * constants, so that a bundle contains only those that it uses.
 */
export const authorization = 'Authorization';
export const etag = 'ETag';
export const idempotencyKey = 'Idempotency-Key';
export const idempotencyStatus = 'Idempotency-Status';
export const ifMatch = 'If-Match';
export const ifNoneMatch = 'If-None-Match';
export const rateLimit = 'RateLimit';
export const rateLimitPolicy = 'RateLimit-Policy';
export const requestId = 'X-Request-Id';
export const retryAfter = 'Retry-After';

/**
 * The value of `Idempotency-Status`: `created` if the write ran now, `replayed` if its stored
 * response was returned.
 */
export type IdempotencyStatus = 'created' | 'replayed';
