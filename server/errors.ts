import { type ErrorCode, type FieldError, sentence } from '../sdk/contract/errors.ts';

/** An error with a code from the API contract. Any other thrown error is reported as `internal`. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly details: FieldError[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  /** The methods that the route allows, for `method_not_allowed`. */
  readonly allow: string | undefined;

  constructor(
    readonly code: ErrorCode,
    message: string,
    more: Partial<Pick<ServiceError, 'details' | 'retryAfterSeconds' | 'allow' | 'cause'>> = {},
  ) {
    super(message, { cause: more.cause });
    this.details = more.details;
    this.retryAfterSeconds = more.retryAfterSeconds;
    this.allow = more.allow;
  }
}

/** The settings of the server are invalid. The message lists every problem. */
export class InvalidSettingsError extends Error {
  override readonly name = 'InvalidSettingsError';
}

/** There is no database at the given path or URL, or it has no tables of this service. */
export class MissingDatabaseError extends Error {
  override readonly name = 'MissingDatabaseError';
}

/** The error for a field that violates a rule not expressed in the schemas. */
export function badRequest(field: string, message: string): ServiceError {
  const error = { field, message };
  return new ServiceError('invalid_request', sentence(error), { details: [error] });
}

/**
 * The error does not reveal whether the memory never existed, was deleted, or belongs to another
 * project or user.
 */
export function noSuchMemory(): ServiceError {
  return new ServiceError('not_found', 'no memory has this id');
}
