import { createPooledReads } from '../pooled-reads.ts';
import type { ReaderPool } from '../reader-pool.ts';
import type { Storage } from '../storage.ts';
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

export type Parts = {
  connection: Connection;
  /** Separate, because these statements may wait for a row that another server has locked. */
  quotas: Connection;
  writes: WriteQueue;
  tasks: Tasks;
  maintenance: Maintenance;
  readers: ReaderPool;
  health: Health;
};

type Operations = Omit<Storage, 'name' | 'connection' | 'close'>;

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
    // One statement reads an unfiltered page, so the page is consistent without a snapshot.
    ...createPooledReads(readers, (read) => answered(readList(sendTo(connection), read))),

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
    // PostgreSQL itself verifies page checksums, if they are enabled.
    findDamage: async () => [],
    health: async () => health.state(),
  };
}

function sendTo(connection: Connection) {
  return (...statements: Parameters<Connection['run']>[0][number][]) => connection.run(statements);
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
