import { isUnfiltered } from '../memory/filter.ts';
import { mayAccess } from '../memory/visibility.ts';
import type { UserPage } from './project-storage.ts';
import type { ReaderPool, ReadRequest } from './reader-pool.ts';
import type { Page, Read, SearchResult, Storage } from './storage.ts';

type PooledReads = Pick<
  Storage,
  | 'getMemory'
  | 'getStatuses'
  | 'listMemories'
  | 'exportMemories'
  | 'listUsers'
  | 'listTasks'
  | 'measureMemories'
  | 'searchMemories'
>;

/**
 * Creates the reads that can be slow and therefore run in the reader threads. Reading a memory or a
 * page of an unfiltered list is fast, so `short` runs these reads in the calling thread. Parts of
 * contents are not read there, because the database must read the whole contents to find them.
 */
export function createPooledReads(
  readers: ReaderPool,
  short: Pick<Storage, 'getMemory' | 'listMemories'>,
): PooledReads {
  const run = (operation: string, read: Read, more: Partial<ReadRequest> = {}) => {
    const { projectId } = read;
    readers.noteActive(projectId);
    return readers.read({ projectId, operation, argument: read, ...more });
  };
  const readPage = async (operation: string, read: Read): Promise<Page> => {
    const { value, texts } = await run(operation, read);
    return { items: texts, next: (value as { next: string | null }).next };
  };

  return {
    async getMemory(read) {
      if (read.range === undefined) return short.getMemory(read);
      const { value } = await run('getMemory', read);
      return value as Awaited<ReturnType<Storage['getMemory']>>;
    },
    async getStatuses(read) {
      const { value } = await run('getStatuses', read);
      return value as Awaited<ReturnType<Storage['getStatuses']>>;
    },
    async listMemories(read) {
      if (!mayAccess(read.onlyUserId, read)) return { items: ['[]'], next: null };
      const isShort = isUnfiltered(read.filter) && read.range === undefined;
      if (!isShort) return readPage('listMemories', read);
      readers.noteActive(read.projectId);
      return short.listMemories(read);
    },
    exportMemories: (read) => readPage('exportMemories', read),
    async listUsers(read) {
      const { value } = await run('listUsers', read);
      return value as UserPage;
    },
    listTasks: (read) => readPage('listTasks', read),
    async measureMemories(read) {
      const { value } = await run('measureMemories', read);
      return value as Awaited<ReturnType<Storage['measureMemories']>>;
    },
    async searchMemories(read, signal) {
      if (!mayAccess(read.onlyUserId, read)) {
        return { items: ['[]'], meaning: 'off', missing: 0 };
      }
      const { projectId, userId } = read;
      const user = JSON.stringify([projectId, userId]);
      const { value, texts } = await run('searchMemories', read, { user, signal });
      return { ...(value as Omit<SearchResult, 'items'>), items: texts };
    },
  };
}
