import { isUnfiltered } from '../memory/filter.ts';
import { mayAccess } from '../memory/visibility.ts';
import type { ReaderPool } from './reader-pool.ts';
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
  const readPage = async (operation: string, read: Read): Promise<Page> => {
    const { projectId } = read;
    const { value, texts } = await readers.read({ projectId, operation, argument: read });
    return { items: texts, next: (value as { next: string | null }).next };
  };

  return {
    async getStatuses(read) {
      const { projectId } = read;
      const request = { projectId, operation: 'getStatuses', argument: read };
      const { value } = await readers.read(request);
      return value as Awaited<ReturnType<Storage['getStatuses']>>;
    },
    async listMemories(read) {
      if (!mayAccess(read.onlyUserId, read)) return { items: ['[]'], next: null };
      return isUnfiltered(read.filter) ? listShort(read) : readPage('listMemories', read);
    },
    exportMemories: (read) => readPage('exportMemories', read),
    listUsers: (read) => readPage('listUsers', read),
    async searchMemories(read, signal) {
      if (!mayAccess(read.onlyUserId, read)) return { items: ['[]'] };
      const { projectId, userId } = read;
      const user = JSON.stringify([projectId, userId]);
      const request = { projectId, operation: 'searchMemories', argument: read, user, signal };
      const { texts } = await readers.read(request);
      return { items: texts };
    },
  };
}
