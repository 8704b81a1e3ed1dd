import { type Static, Type } from '@sinclair/typebox';
import { limits } from './limits.ts';
import { Memory, UserId } from './memory.ts';

export const Order = Type.Union([Type.Literal('desc'), Type.Literal('asc')]);
export type Order = Static<typeof Order>;

/** The query of a list, as parsed. On the wire every value is text. */
export const ListQuery = Type.Object(
  {
    userId: UserId,
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: limits.pageItems, default: limits.pageItemsDefault }),
    ),
    cursor: Type.Optional(
      Type.String({ description: 'nextCursor of the page before; with the same user and order.' }),
    ),
    order: Type.Optional(Order),
  },
  { additionalProperties: false },
);
export type ListQuery = Static<typeof ListQuery>;

/** One page. `nextCursor` is null at the end, and only there. */
export const Page = Type.Object(
  { items: Type.Array(Memory), nextCursor: Type.Union([Type.String(), Type.Null()]) },
  { additionalProperties: false },
);
export type Page = Static<typeof Page>;
