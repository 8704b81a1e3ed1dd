import { type Static, Type } from '@sinclair/typebox';
import { limits } from './limits.ts';
import { exampleMemory, Time } from './memory.ts';
import { Cursor, Limit, PageOf } from './page.ts';
import { Nullable } from './text.ts';

/* The schemas for a project's users and for the request's API key. */

export const UsersQuery = Type.Object(
  {
    limit: Limit({
      max: limits.pageItems,
      default: limits.pageItemsDefault,
      description: 'The maximum number of users in the page.',
    }),
    cursor: Cursor('The `nextCursor` of the previous page: an opaque string.'),
  },
  { additionalProperties: false },
);
export type UsersQuery = {
  /** The maximum number of users in the page: 1 to 100, default 20. */
  limit?: number | undefined;
  /** The `nextCursor` of the previous page; null for the first page. */
  cursor?: string | null | undefined;
};

const exampleUser = { userId: 'u-1', memories: 42, lastCreatedAt: exampleMemory.createdAt };

/** A user with at least one memory. */
export const User = Type.Object(
  {
    userId: Type.String(),
    memories: Type.Integer({ minimum: 1, description: 'How many memories the user has.' }),
    lastCreatedAt: Time,
  },
  { title: 'User', description: 'A user who has memories.', examples: [exampleUser] },
);
export type User = Static<typeof User>;

/** One page of users. `nextCursor` is null only on the last page. */
export const UserPage = PageOf(User, {
  title: 'UserPage',
  description: 'One page of users, ordered by id.',
  examples: [{ items: [exampleUser], nextCursor: null }],
});
export type UserPage = Static<typeof UserPage>;

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
