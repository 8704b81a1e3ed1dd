import { ServiceError } from '../errors.ts';
import type { Caller } from './authenticate.ts';

/**
 * A query, body or item as the key's binding completes it: where a key that is bound to a user is
 * used, a missing `userId` means that user. Throws `forbidden` where it names another.
 */
export function withBoundUser<T>(request: T, { userId }: Caller): T {
  if (userId === null || !isObject(request)) return request;
  if (request.userId === undefined) return { ...request, userId };
  // Validation reports a value that is not a string.
  if (typeof request.userId !== 'string' || request.userId === userId) return request;
  throw new ServiceError('forbidden', 'this API key is bound to another user');
}

function isObject(value: unknown): value is { userId?: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What every read of storage carries. */
export function readBy({ projectId, userId }: Caller, now: number) {
  return { projectId, now, onlyUserId: userId };
}

/** What every write of storage carries, but for its idempotency key. */
export function writeBy({ projectId, userId }: Caller, now: number) {
  return { projectId, at: now, onlyUserId: userId };
}
