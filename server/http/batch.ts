import { Type } from '@sinclair/typebox';
import { limits } from '../../sdk/contract/limits.ts';
import { sentence, type Validator, validator } from '../../sdk/contract/validate.ts';
import { mapYielding } from '../event-loop.ts';
import type { ItemFailure } from '../storage/storage.ts';
import { parse } from './parse.ts';

/* Bodies of many items, which are validated one by one: invalid ones fail alone. */

export type ValidatedItems<T> = {
  valid: T[];
  /** The places of the valid ones. */
  indexes: number[];
  failed: ItemFailure[];
};

/** The batch body, whatever its items are. */
export const validateBatchBody = validator(
  Type.Object(
    { items: Type.Array(Type.Unknown(), { minItems: 1, maxItems: limits.batchItems }) },
    { additionalProperties: false },
  ),
);

/**
 * Validates the items one by one and converts the valid ones, yielding to the event loop where that
 * takes long. Throws `invalid_request` where the batch body itself is invalid.
 */
export async function validateItems<Item, T>(
  body: unknown,
  validate: Validator,
  convert: (item: Item) => T,
): Promise<ValidatedItems<T>> {
  const { items } = parse<{ items: unknown[] }>(validateBatchBody, body);
  const validated: ValidatedItems<T> = { valid: [], indexes: [], failed: [] };
  await mapYielding(items, (item, index) => {
    const [error] = validate(item);
    if (error === undefined) {
      validated.valid.push(convert(item as Item));
      validated.indexes.push(index);
    } else {
      validated.failed.push({ index, error: 'invalid_request', message: sentence(error) });
    }
  });
  return validated;
}
