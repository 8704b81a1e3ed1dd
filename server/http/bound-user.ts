import { ServiceError } from '../errors.ts';
import type { Caller } from './authenticate.ts';

/** Adds the key's bound user to a request. Throws `forbidden` if the request names another user. */
export function withBoundUser<T>(request: T, { userId }: Caller): T {
  if (userId === null || !isObject(request)) return request;
  if (request.userId === undefined) return { ...request, userId };
  // A value that is not a string is rejected later, by the schema.
  if (typeof request.userId !== 'string' || request.userId === userId) return request;
  throw new ServiceError('forbidden', 'this API key is bound to another user');
}

function isObject(value: unknown): value is { userId?: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function readBy({ projectId, userId }: Caller, now: number) {
  return { projectId, now, onlyUserId: userId };
}
