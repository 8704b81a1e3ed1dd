import type { User, UserOrder } from '../../sdk/contract/project.ts';
import { sortedBy } from '../memory/measurement.ts';
import type { Measurement, UserRow } from '../storage/project-storage.ts';
import type { Page, PageRange, Read, Storage } from '../storage/storage.ts';
import type { Measure } from './stats.ts';

/**
 * Creates the list of users. The users and their counts are read for each request, so that no
 * erased user is listed. Their sizes may come from an earlier measurement.
 */
export function createUserList(storage: Pick<Storage, 'listUsers'>, measure: Measure) {
  /** A user may be missing in an earlier measurement. */
  async function withSizes(read: Read, users: UserRow[], { largest }: Measurement) {
    const sizes = new Map(largest.map(({ userId, bytes }) => [userId, bytes]));
    const sized = users.map(async ({ userId, memories, lastCreatedAt }): Promise<User> => {
      const bytes = sizes.get(userId) ?? (await measure({ ...read, onlyUserId: userId })).bytes;
      return { userId, memories, bytes, lastCreatedAt: new Date(lastCreatedAt).toISOString() };
    });
    return Promise.all(sized);
  }

  async function byId(read: Read, { after, limit }: PageRange) {
    const { users, next } = await storage.listUsers({ ...read, after, limit });
    const through = users.at(-1)?.userId;
    if (through === undefined) return { users: [], next: null };
    const measured = await measure(read, { after: after ?? '', through });
    return { users: await withSizes(read, users, measured), next };
  }

  async function largestFirst(read: Read, order: 'memories' | 'bytes', limit: number) {
    const measured = await measure(read);
    const userIds = measured.largest.map(({ userId }) => userId);
    const page = { userIds, after: null, limit: userIds.length };
    const { users } = await storage.listUsers({ ...read, ...page });
    const sized = await withSizes(read, users, measured);
    return { users: sortedBy(order, sized).slice(0, limit), next: null };
  }

  return async (read: Read, order: UserOrder, range: PageRange): Promise<Page> => {
    const isById = order === 'userId';
    const list = isById ? byId(read, range) : largestFirst(read, order, range.limit);
    const { users, next } = await list;
    return { items: [JSON.stringify(users)], next };
  };
}
