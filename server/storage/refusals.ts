import { limits } from '../../sdk/contract/limits.ts';
import { badRequest, ServiceError } from '../errors.ts';
import type { ExpectedVersion } from './types/memories.ts';

const retryAfterSeconds = 5;
const fullRetryAfterSeconds = 10;

export function unavailable(message: string, cause?: unknown): ServiceError {
  return new ServiceError('unavailable', message, { retryAfterSeconds, cause });
}

/** The error for a write that may or may not have been stored. */
export function outcomeUnknown(cause: unknown): ServiceError {
  const message =
    'the database failed and the outcome is unknown; retry with the same Idempotency-Key';
  return new ServiceError('internal', message, { retryAfterSeconds, cause });
}

export function keyReused(): ServiceError {
  return new ServiceError(
    'idempotency_key_reused',
    'this Idempotency-Key was already used with a different request; use a new key for each request',
  );
}

/** Throws `precondition_failed` if a version is expected and no memory has it. */
export function assertVersion(memory: { version: number } | null, expected: ExpectedVersion): void {
  if (expected === null || expected === memory?.version) return;
  if (memory === null) {
    const message = 'no memory has this source and externalId; save it without If-Match';
    throw new ServiceError('precondition_failed', message);
  }
  if (expected === 'any') return;
  throw new ServiceError(
    'precondition_failed',
    `the memory is at version ${memory.version}, not ${expected}; read it again and repeat the change`,
  );
}

export function queueFull(): ServiceError {
  return new ServiceError(
    'rate_limited',
    `more than ${limits.pendingRecords} records would be pending; try again later`,
    { retryAfterSeconds: fullRetryAfterSeconds },
  );
}

/** The error for a cursor that was forged or issued for another database. */
export function unknownPosition(): ServiceError {
  return badRequest('cursor', 'was not issued by this service; start again without a cursor');
}

/** `fitting` is the number of results whose texts fit into one response. */
export function tooMuchText(fitting: number): ServiceError {
  const message = `must be at most ${fitting}: more results would exceed the maximum response size`;
  return badRequest('limit', message);
}

/**
 * Another server has changed what a write has read. Nothing was stored, and the write must run
 * again.
 */
export class WriteConflict extends Error {}
