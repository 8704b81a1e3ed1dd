import { type ObjectOptions, type Static, type TSchema, Type } from '@sinclair/typebox';
import { type FilterFields, filterFields } from './filter.ts';
import { limits } from './limits.ts';
import { exampleMemory, Memory, UserId } from './memory.ts';
import { Nullable } from './text.ts';

/** The query parameter `limit` after parsing. */
export function Limit(
  description: string,
  {
    max = limits.pageItems,
    preset = limits.pageItemsDefault,
  }: { max?: number; preset?: number } = {},
) {
  return Type.Optional(Type.Integer({ minimum: 1, maximum: max, default: preset, description }));
}

/** The query parameter `cursor`. */
export function Cursor(description: string) {
  return Type.Optional(Type.String({ minLength: 1, description }));
}

/** The page of a list, in the form that the SDK accepts. */
export type PageQuery = {
  /** The maximum number of items in the page: 1 to 100, default 20. */
  limit?: number | undefined;
  /** The `nextCursor` of the previous page of the same list; null for the first page. */
  cursor?: string | null | undefined;
};

/** One page of a list. */
export function PageOf<T extends TSchema>(item: T, options: ObjectOptions) {
  const nextCursor = Nullable(Type.String(), {
    description: 'The `cursor` for the next page. Null only on the last page.',
  });
  return Type.Object({ items: Type.Array(item), nextCursor }, options);
}

export const Order = Type.Union([Type.Literal('desc'), Type.Literal('asc')], {
  default: 'desc',
  description: 'The order by creation time: `desc` is newest first.',
});
export type Order = Static<typeof Order>;

/** The query of a list after parsing; on the wire, all values are text. */
export const ListQuery = Type.Object(
  {
    userId: UserId,
    limit: Limit('The maximum number of memories in the page.'),
    cursor: Cursor(
      'The `nextCursor` of the previous page: an opaque string that is valid only with the same ' +
        'user, order and filters.',
    ),
    order: Type.Optional(Order),
    ...filterFields,
  },
  { additionalProperties: false },
);
export type ListQuery = {
  /** Optional with a key that is bound to a user. */
  userId?: string;
  /** The order by creation time. Default: `desc`, newest first. */
  order?: Order | undefined;
} & PageQuery &
  FilterFields;

/** One page. `nextCursor` is null only on the last page. */
export const Page = PageOf(Memory, {
  title: 'MemoryPage',
  description: 'One page of memories.',
  examples: [{ items: [exampleMemory], nextCursor: null }],
});
export type Page = Static<typeof Page>;
