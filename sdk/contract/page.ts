import { type Static, Type } from '@sinclair/typebox';
import { type FilterFields, filterFields } from './filter.ts';
import { limits } from './limits.ts';
import { exampleMemory, Memory, UserId } from './memory.ts';

export const Order = Type.Union([Type.Literal('desc'), Type.Literal('asc')], {
  default: 'desc',
  description: 'The order by creation time: `desc` is newest first.',
});
export type Order = Static<typeof Order>;

/** The query of a list after parsing; on the wire, all values are text. */
export const ListQuery = Type.Object(
  {
    userId: UserId,
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: limits.pageItems,
        default: limits.pageItemsDefault,
        description: 'The maximum number of memories in the page.',
      }),
    ),
    cursor: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'The `nextCursor` of the previous page: an opaque string that is valid only with the same ' +
          'user, order and filters.',
      }),
    ),
    order: Type.Optional(Order),
    ...filterFields,
  },
  { additionalProperties: false },
);
export type ListQuery = {
  userId: string;
  /** The maximum number of memories in the page: 1 to 100, default 20. */
  limit?: number | undefined;
  /** `nextCursor` of the previous page, for the same user, order and filters; null to start. */
  cursor?: string | null | undefined;
  /** The order by creation time. Default: `desc`, newest first. */
  order?: Order | undefined;
} & FilterFields;

/** One page. `nextCursor` is null only on the last page. */
export const Page = Type.Object(
  {
    items: Type.Array(Memory),
    nextCursor: Type.Union([Type.String(), Type.Null()], {
      description: 'The `cursor` for the next page. Null only on the last page.',
    }),
  },
  {
    title: 'MemoryPage',
    description: 'One page of memories.',
    examples: [{ items: [exampleMemory], nextCursor: null }],
  },
);
export type Page = Static<typeof Page>;
