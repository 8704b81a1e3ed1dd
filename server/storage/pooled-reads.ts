import { isUnfiltered } from '../memory/filter.ts';
import { mayAccess } from '../memory/visibility.ts';
import type { ReaderPool, ReadRequest } from './reader-pool.ts';
import type { Page, Read, Storage } from './storage.ts';

type PooledReads = Pick<
  Storage,
  'getStatuses' | 'listMemories' | 'exportMemories' | 'listUsers' | 'searchMemories'
>;

/**
 * Creates the reads that can be slow and therefore run in the reader threads. Reading a page of an
 * unfiltered list is fast, so `listShort` runs in the calling thread.
 */
export function createPooledReads(
  readers: ReaderPool,
  listShort: Storage['listMemories'],
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
    async getStatuses(read) {
      const { value } = await run('getStatuses', read);
      return value as Awaited<ReturnType<Storage['getStatuses']>>;
    },
    async listMemories(read) {
      if (!mayAccess(read.onlyUserId, read)) return { items: ['[]'], next: null };
      if (!isUnfiltered(read.filter)) return readPage('listMemories', read);
      readers.noteActive(read.projectId);
      return listShort(read);
    },
    exportMemories: (read) => readPage('exportMemories', read),
    listUsers: (read) => readPage('listUsers', read),
    async searchMemories(read, signal) {
      if (!mayAccess(read.onlyUserId, read)) return { items: ['[]'] };
      const { projectId, userId } = read;
      const user = JSON.stringify([projectId, userId]);
      const { texts } = await run('searchMemories', read, { user, signal });
      return { items: texts };
    },
  };
}
