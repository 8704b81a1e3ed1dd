import { type Static, Type } from '@sinclair/typebox';
import { memoryStatuses, memoryTypes } from './enumerations.ts';
import { exampleMemory, Time } from './memory.ts';
import { Cursor, Limit, PageOf, type PageQuery } from './page.ts';
import { Count, Nullable } from './text.ts';

/* The schemas for what a project holds, for its users, and for the request's API key. */

export const UserOrder = Type.Union(
  [Type.Literal('userId'), Type.Literal('memories'), Type.Literal('bytes')],
  {
    default: 'userId',
    description:
      'The order of the users. `memories` and `bytes` return the largest users first, in a single ' +
      'page without a cursor.',
  },
);
export type UserOrder = Static<typeof UserOrder>;

export const UsersQuery = Type.Object(
  {
    order: Type.Optional(UserOrder),
    limit: Limit('The maximum number of users in the page.'),
    cursor: Cursor('The `nextCursor` of the previous page: an opaque string.'),
  },
  { additionalProperties: false },
);
export type UsersQuery = PageQuery & {
  /**
   * `userId`, the default, or the largest users first, by their `memories` or `bytes`: one page of
   * up to `limit` users, without a cursor.
   */
  order?: UserOrder | undefined;
};

const exampleUser = {
  userId: 'u-1',
  memories: 42,
  bytes: 6_210,
  lastCreatedAt: exampleMemory.createdAt,
};

/** A user with at least one memory. */
export const User = Type.Object(
  {
    userId: Type.String(),
    memories: Type.Integer({ minimum: 1, description: 'How many memories the user has.' }),
    bytes: Count('The size of content and metadata in UTF-8.'),
    lastCreatedAt: Time,
  },
  { title: 'User', description: 'A user who has memories.', examples: [exampleUser] },
);
export type User = Static<typeof User>;

/** One page of users. `nextCursor` is null only on the last page. */
export const UserPage = PageOf(User, {
  title: 'UserPage',
  description: 'One page of users, ordered by id or by size.',
  examples: [{ items: [exampleUser], nextCursor: null }],
});
export type UserPage = Static<typeof UserPage>;

const countsOf = <Name extends string>(names: readonly Name[], description: string) => {
  const counts = Object.fromEntries(names.map((name) => [name, Count()]));
  return Type.Unsafe<Record<Name, number>>(Type.Object(counts, { description }));
};

/** What a project holds or, for a key that is bound to a user, what that user has. */
export const Stats = Type.Object(
  {
    users: Count('How many users have memories.'),
    memories: Count('How many memories there are.'),
    bytes: Count('The size of all content and metadata in UTF-8.'),
    byType: countsOf(memoryTypes, 'The number of memories of each type.'),
    byStatus: countsOf(memoryStatuses, 'The number of memories with each status.'),
    pending: Count('How many memories are waiting or being processed.'),
    failed: Count('How many memories could not be processed.'),
    embedded: Count('How many memories have vectors of the present model.'),
    oldestAt: Nullable(Time, { description: 'When the oldest memory was created.' }),
    newestAt: Nullable(Time, { description: 'When the newest memory was created.' }),
  },
  {
    title: 'Stats',
    description: 'What the project holds. The figures may be a minute old.',
    examples: [
      {
        users: 3,
        memories: 128,
        bytes: 48_211,
        byType: { memory: 90, ticket: 20, document: 6, conversation: 10, event: 1, profile: 1 },
        byStatus: { processing: 1, complete: 126, failed: 1 },
        pending: 1,
        failed: 1,
        embedded: 126,
        oldestAt: exampleMemory.createdAt,
        newestAt: '2026-11-21T09:30:00.000Z',
      },
    ],
  },
);
export type Stats = Static<typeof Stats>;

/** The properties of an API key. */
export const ApiKey = Type.Object(
  {
    project: Type.String({ description: 'The project that the key belongs to.' }),
    name: Type.String({ description: 'The name given to the key when it was created.' }),
    lastFour: Type.String({ description: 'The last four characters of the key.' }),
    userId: Nullable(Type.String(), {
      description:
        'The user that the key is bound to; null if the key has access to the whole project.',
    }),
    readOnly: Type.Boolean({ description: 'Whether writes are rejected with 403.' }),
    expiresAt: Nullable(Time, {
      description: 'When the key expires; null if never.',
    }),
  },
  {
    title: 'ApiKey',
    description: 'An API key, without its secret.',
    examples: [
      {
        project: 'default',
        name: 'desktop agent',
        lastFour: 'x7Qd',
        userId: 'u-1',
        readOnly: true,
        expiresAt: null,
      },
    ],
  },
);
export type ApiKey = Static<typeof ApiKey>;
