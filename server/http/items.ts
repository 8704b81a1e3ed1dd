import { Type } from '@sinclair/typebox';
import { limits } from '../../sdk/contract/limits.ts';
import { sentence, type Validator, validator } from '../../sdk/contract/validate.ts';
import { mapYielding } from '../event-loop.ts';
import type { ItemFailure } from '../storage/storage.ts';
import { checked } from './check.ts';

/* Bodies of many items, which are judged one by one: bad ones fail alone. */

export type Judged<T> = {
  good: T[];
  /** The places that the good ones had. */
  indexes: number[];
  failed: ItemFailure[];
};

/** The body around the items. */
export const validateEnvelope = validator(
  Type.Object(
    { items: Type.Array(Type.Unknown(), { minItems: 1, maxItems: limits.batchItems }) },
    { additionalProperties: false },
  ),
);

/**
 * Makes something of every item that is valid; yields to the event loop in between. Throws
 * `invalid_request` for a bad batch body.
 */
export async function judgeItems<Item, T>(
  body: unknown,
  validate: Validator,
  make: (item: Item) => T,
): Promise<Judged<T>> {
  const { items } = checked<{ items: unknown[] }>(validateEnvelope, body);
  const judged: Judged<T> = { good: [], indexes: [], failed: [] };
  await mapYielding(items, (item, index) => {
    const [error] = validate(item);
    if (error === undefined) {
      judged.good.push(make(item as Item));
      judged.indexes.push(index);
    } else {
      judged.failed.push({ index, error: 'invalid_request', message: sentence(error) });
    }
  });
  return judged;
}
