import { isUnfiltered } from '../memory/filter.ts';
import { mayAccess } from '../memory/visibility.ts';
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
  const run = <T>(operation: string, read: Read, more: Partial<ReadRequest> = {}) => {
    const { projectId } = read;
    readers.noteActive(projectId);
    return readers.read<T>({ projectId, operation, argument: read, ...more });
  };
  const noResult: SearchResult = { items: ['[]'], meaning: 'off', missing: 0 };

  return {
    async getMemory(read) {
      if (read.range === undefined) return short.getMemory(read);
      return run('getMemory', read);
    },
    getStatuses: (read) => run('getStatuses', read),
    async listMemories(read) {
      if (!mayAccess(read.onlyUserId, read)) return { items: ['[]'], next: null };
      const isShort = isUnfiltered(read.filter) && read.range === undefined;
      if (!isShort) return run<Page>('listMemories', read);
      readers.noteActive(read.projectId);
      return short.listMemories(read);
    },
    exportMemories: (read) => run('exportMemories', read),
    listUsers: (read) => run('listUsers', read),
    listTasks: (read) => run('listTasks', read),
    measureMemories: (read) => run('measureMemories', read),
    async searchMemories(read, signal) {
      if (!mayAccess(read.onlyUserId, read)) return noResult;
      const { projectId, userId } = read;
      const user = JSON.stringify([projectId, userId]);
      const more = { user, signal };
      return (await run<SearchResult | undefined>('searchMemories', read, more)) ?? noResult;
    },
  };
}
