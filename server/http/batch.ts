import { Type } from '@sinclair/typebox';
import { sentence } from '../../sdk/contract/errors.ts';
import { limits } from '../../sdk/contract/limits.ts';
import { type Validator, validator } from '../../sdk/contract/validate.ts';
import { ServiceError } from '../errors.ts';
import type { Batch } from '../storage/types/memories.ts';
import { mapYielding } from '../threads/event-loop.ts';
import { type Caller, withBoundUser } from './authenticate.ts';
import { parse } from './parse.ts';

/** Validates the batch body, but not its items. */
export const validateBatchBody = validator(
  Type.Object(
    { items: Type.Array(Type.Unknown(), { minItems: 1, maxItems: limits.batchItems }) },
    { additionalProperties: false },
  ),
);

/**
 * Validates and converts the items, and yields to the event loop between them. If an item names a
 * user other than the key's bound user, the item fails with `forbidden`.
 */
export async function validateItems<Item, T>(
  items: readonly unknown[],
  caller: Caller,
  validate: Validator,
  convert: (item: Item) => T,
): Promise<{ valid: T[]; batch: Batch }> {
  const valid: T[] = [];
  const batch: Batch = { indexes: [], failed: [] };
  await mapYielding(items, (item, index) => {
    try {
      const bound = withBoundUser(item, caller);
      valid.push(convert(parse<Item>(validate, bound, '')));
      batch.indexes.push(index);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      batch.failed.push({ index, error: error.code, message: messageOf(error) });
    }
  });
  return { valid, batch };
}

/** An item's error has no details, so that its message names the first invalid fields. */
const namedFields = 3;

function messageOf({ message, details = [] }: ServiceError): string {
  return details.length < 2 ? message : details.slice(0, namedFields).map(sentence).join('; ');
}
