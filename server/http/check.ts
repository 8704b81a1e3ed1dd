import { sentence, type Validator } from '../../sdk/contract/validate.ts';
import { ServiceError } from '../errors.ts';

/** The value, as what its schema says it is; throws `invalid_request` that names each field. */
export function checked<T>(validate: Validator, value: unknown): T {
  const details = validate(value);
  const [first] = details;
  if (first === undefined) return value as T;
  throw new ServiceError('invalid_request', sentence(first), { details });
}

/** The same for a single field that no schema describes. */
export function invalid(field: string, message: string): ServiceError {
  const error = { field, message };
  return new ServiceError('invalid_request', sentence(error), { details: [error] });
}
