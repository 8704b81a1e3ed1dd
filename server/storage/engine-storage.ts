import { isUnfiltered } from '../memory/filter.ts';
import { mayAccess } from '../memory/visibility.ts';
import { createConnectedStorage } from './connected-storage.ts';
import type { Engine } from './engine.ts';
import { eraseUser } from './operations/erasure.ts';
import { acceptRecords } from './operations/ingest.ts';
import {
  createKey,
  ensureProject,
  findKey,
  findProject,
  listKeys,
  revokeKey,
  touchKeys,
} from './operations/keys.ts';
import { exportMemories, listFiltered, listMemories } from './operations/lists.ts';
import { maintain } from './operations/maintenance.ts';
import { deleteMemory, saveMemory, updateMemory } from './operations/memories.ts';
import { listTasks, listUsers, measureMemories } from './operations/project.ts';
import {
  getMemory,
  getMemoryPart,
  getStatus,
  getStatuses,
  taskQueueState,
} from './operations/reads.ts';
import { searchMemories, storeNextSnapshot } from './operations/search.ts';
import { importMemories } from './operations/transfer.ts';
import { embeddingBacklog } from './operations/vectors.ts';
import type { Storage } from './storage.ts';
import type { Page, SearchResult } from './types.ts';

const noPage: Page = { items: ['[]'], next: null };
const noResult: SearchResult = { items: ['[]'], meaning: 'off', missing: 0 };

type OfEngine =
  | 'name'
  | 'reserveQuota'
  | 'findDamage'
  | 'health'
  | 'figures'
  | 'connection'
  | 'close';

/** Keeps the promises of storage.ts with the operations, on any engine. */
export function createStorage(engine: Engine): Omit<Storage, OfEngine> {
  return {
    ...createConnectedStorage(engine),
    saveMemory: (write) => engine.write(saveMemory, write),
    updateMemory: (write) => engine.write(updateMemory, write),
    deleteMemory: (write) => engine.write(deleteMemory, write),
    eraseUser: (write) => engine.write(eraseUser, write),
    importMemories: (write) => engine.write(importMemories, write),
    acceptRecords: (write) => engine.write(acceptRecords, write),
    getMemory: (read) =>
      read.range === undefined
        ? engine.readShort(getMemory, read)
        : engine.read(getMemoryPart, read),
    async getStatus(read) {
      const status = await engine.readShort(getStatus, read);
      if (status !== 'long') return status;
      const [counted = null] = await engine.read(getStatuses, { ...read, ids: [read.id] });
      return counted;
    },
    getStatuses: (read) => engine.read(getStatuses, read),
    async listMemories(read) {
      if (!mayAccess(read.onlyUserId, read)) return noPage;
      const isShort = isUnfiltered(read.filter) && read.range === undefined;
      const page = isShort ? await engine.readShort(listMemories, read) : 'large';
      return page === 'large' ? engine.read(listFiltered, read) : page;
    },
    exportMemories: (read) => engine.read(exportMemories, read),
    async searchMemories(read, signal) {
      if (!mayAccess(read.onlyUserId, read)) return noResult;
      const index = JSON.stringify([read.projectId, read.userId]);
      return (await engine.search(searchMemories, read, { index, signal })) ?? noResult;
    },
    storeNextSnapshot: (after) => engine.read(storeNextSnapshot, { after }),
    listUsers: (read) => engine.read(listUsers, read),
    listTasks: (read) => engine.read(listTasks, read),
    measureMemories: (read) => engine.read(measureMemories, read),
    taskQueueState: () => engine.read(taskQueueState, undefined),
    embeddingBacklog: () => engine.read(embeddingBacklog, undefined),
    createKey: (key) => engine.write(createKey, key),
    listKeys: () => engine.readShort(listKeys, undefined),
    findKey: (hash) => engine.readShort(findKey, hash),
    revokeKey: (id, at) => engine.write(revokeKey, { id, at }),
    touchKeys: (used) => engine.write(touchKeys, used),
    // Read first, so that a server can start and serve reads on a full disk.
    ensureProject: async (name) =>
      (await engine.readShort(findProject, name)) ?? engine.write(ensureProject, name),
    maintain: (run) => engine.write(maintain, run),
  };
}
