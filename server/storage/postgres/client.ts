import { isUnfiltered } from '../../memory/filter.ts';
import type { ReaderPool } from '../reader-pool.ts';
import type { Page, Read, SearchResult, Storage } from '../storage.ts';
import type { Connection } from './connection.ts';
import { notRead, notStored } from './errors.ts';
import type { Health } from './health.ts';
import { readList } from './reader/list.ts';
import { findKey, listKeys, readMemory, readStatuses } from './reader/memories.ts';
import { planImport } from './writer/imports.ts';
import { createKeyWrites } from './writer/keys.ts';
import type { Maintenance } from './writer/maintenance.ts';
import { planDelete, planSave, planUpdate } from './writer/memories.ts';
import { createQueueLimit } from './writer/queue-limit.ts';
import { takeQuota } from './writer/quotas.ts';
import { planRecords } from './writer/records.ts';
import { planErasure } from './writer/removal.ts';
import type { Tasks } from './writer/tasks.ts';
import type { WriteQueue } from './writer/write-queue.ts';

/** What the operations work with. */
export type Parts = {
  /** For single statements, which several callers send at once. */
  connection: Connection;
  /** A row of the rate limit that another server holds delays no other statement. */
  quotas: Connection;
  writes: WriteQueue;
  tasks: Tasks;
  maintenance: Maintenance;
  readers: ReaderPool;
  health: Health;
};

type Operations = Omit<Storage, 'name' | 'connection' | 'close'>;

/** Which connection or thread does what, and what its errors mean. */
export function createOperations(parts: Parts): Operations {
  const { connection, quotas, writes, tasks, maintenance, readers, health } = parts;
  const { uptime } = maintenance;
  const keys = createKeyWrites(connection);
  const isFull = createQueueLimit(connection);

  return {
    saveMemory: (write) => writes.run(planSave(write, uptime)),
    updateMemory: (write) => writes.run(planUpdate(write, uptime)),
    deleteMemory: (write) => writes.run(planDelete(write, uptime)),
    eraseUser: (write) => writes.run(planErasure(write, uptime)),
    importMemories: async (write) => {
      const queued = write.memories.filter(({ status }) => status === 'processing').length;
      const full = await written(isFull(write.projectId, queued));
      return writes.run(planImport(write, { uptime, isFull: full }));
    },
    acceptRecords: async (write) => {
      const full = await written(isFull(write.projectId, write.records.length));
      return writes.run(planRecords(write, { uptime, isFull: full }));
    },

    getMemory: (read) => answered(readMemory(sendTo(connection), read)),
    getStatus: async (read) => {
      const one = readStatuses(sendTo(connection), { ...read, ids: [read.id] });
      return (await answered(one))[0] ?? null;
    },
    getStatuses: (read) => statuses(readers, read),
    // A page without a filter is one statement, and one state of the database.
    listMemories: async (read) => {
      if (isOfAnother(read)) return { items: '[]', next: null };
      if (isUnfiltered(read.filter)) return answered(readList(sendTo(connection), read));
      return page(readers, 'listMemories', read);
    },
    exportMemories: (read) => page(readers, 'exportMemories', read),
    listUsers: (read) => page(readers, 'listUsers', read),
    searchMemories: async (read, signal) => {
      if (isOfAnother(read)) return { items: '[]' };
      const { projectId, userId } = read;
      const user = JSON.stringify([projectId, userId]);
      const request = { projectId, operation: 'searchMemories', argument: read, user, signal };
      const { texts } = await readers.read(request);
      return { items: texts[0] ?? '[]' } satisfies SearchResult;
    },

    claimTasks: (claim) => written(tasks.claimTasks(claim)),
    completeTasks: (results) => written(tasks.completeTasks(results)),
    failTask: (failure) => written(tasks.failTask(failure)),
    releaseTask: (lease) => written(tasks.releaseTask(lease)),
    recoverTasks: (recovery) => written(tasks.recoverTasks(recovery)),
    nextTaskAt: () => answered(tasks.nextTaskAt()),
    taskQueueState: () => answered(tasks.taskQueueState()),

    createKey: (key) => written(keys.createKey(key)),
    listKeys: () => answered(listKeys(connection)),
    findKey: (hash) => answered(findKey(connection, hash)),
    revokeKey: (id, at) => written(keys.revokeKey(id, at)),
    touchKeys: (used) => written(keys.touchKeys(used)),
    ensureProject: (name) => written(keys.ensureProject(name)),

    takeQuota: (take) => written(takeQuota(quotas, take)),
    maintain: (run) => written(maintenance.maintain(run)),
    // The server checks its pages by itself, and says so in its own log.
    findDamage: async () => [],
    health: async () => health.state(),
  };
}

function sendTo(connection: Connection) {
  return (...statements: Parameters<Connection['run']>[0][number][]) => connection.run(statements);
}

/** A read for one user that names another finds nothing. */
function isOfAnother({ userId, onlyUserId = null }: Read & { userId: string }): boolean {
  return onlyUserId !== null && onlyUserId !== userId;
}

async function answered<T>(read: Promise<T>): Promise<T> {
  try {
    return await read;
  } catch (error) {
    throw notRead(error);
  }
}

async function written<T>(write: Promise<T>): Promise<T> {
  try {
    return await write;
  } catch (error) {
    throw notStored(error);
  }
}

async function statuses(readers: ReaderPool, read: Parameters<Storage['getStatuses']>[0]) {
  const request = { projectId: read.projectId, operation: 'getStatuses', argument: read };
  const { value } = await readers.read(request);
  return value as Awaited<ReturnType<Storage['getStatuses']>>;
}

async function page(
  readers: ReaderPool,
  operation: string,
  read: { projectId: number },
): Promise<Page> {
  const request = { projectId: read.projectId, operation, argument: read };
  const { value, texts } = await readers.read(request);
  return { items: texts[0] ?? '[]', next: (value as { next: string | null }).next };
}
