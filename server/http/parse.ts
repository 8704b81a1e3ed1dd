import { sentence } from '../../sdk/contract/errors.ts';
import type { Validator } from '../../sdk/contract/validate.ts';
import { ServiceError } from '../errors.ts';

/**
 * Throws `invalid_request` with the invalid fields. If the value as a whole is invalid, the message
 * begins with `whole`.
 */
export function parse<T>(validate: Validator, value: unknown, whole = 'the body '): T {
  const details = validate(value);
  const [first] = details;
  if (first === undefined) return value as T;
  const message = first.field === '' ? whole + first.message : sentence(first);
  throw new ServiceError('invalid_request', message, { details });
}
