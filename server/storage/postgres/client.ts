import type { StorageFigures } from '../maintenance-storage.ts';
import { createPooledReads } from '../pooled-reads.ts';
import type { ReaderPool } from '../reader-pool.ts';
import { queueFull } from '../refusals.ts';
import type { Storage, Write, WriteResult } from '../storage.ts';
import type { VectorQueue } from '../vector-storage.ts';
import type { Connection } from './connection.ts';
import { answered, written } from './errors.ts';
import type { Health } from './health.ts';
import { readList } from './reader/list.ts';
import { findKey, listKeys, readMemory, readStatuses } from './reader/memories.ts';
import { query, type Run } from './statement.ts';
import { onceByKey } from './writer/idempotency.ts';
import { planImport } from './writer/imports.ts';
import { createKeyWrites } from './writer/keys.ts';
import type { Maintenance } from './writer/maintenance.ts';
import { planDelete, planSave, planUpdate } from './writer/memories.ts';
import { createQueueLimit } from './writer/queue-limit.ts';
import { takeQuota } from './writer/quotas.ts';
import { planRecords } from './writer/records.ts';
import { planErasure } from './writer/removal.ts';
import type { Tasks } from './writer/tasks.ts';
import type { Plan, WriteQueue } from './writer/write-queue.ts';

export type Parts = {
  connection: Connection;
  /** Separate, because these statements may wait for a row that another server has locked. */
  quotas: Connection;
  writes: WriteQueue;
  tasks: Tasks;
  vectors: VectorQueue;
  maintenance: Maintenance;
  readers: ReaderPool;
  health: Health;
};

const rejected: Plan = {
  effect: async () => {
    throw queueFull();
  },
};

type Operations = Omit<Storage, 'name' | 'connection' | 'close'>;

export function createOperations(parts: Parts): Operations {
  const { connection, quotas, writes, tasks, vectors, maintenance, readers, health } = parts;
  const isFull = createQueueLimit(connection);

  function once(write: Write, { effect, ...options }: Plan): Promise<WriteResult> {
    const { projectId } = write;
    readers.noteActive(projectId);
    return writes.run({
      ...options,
      projectId,
      work: onceByKey(write, maintenance.uptime, effect),
    });
  }

  /** Even if the queue is full, a repeated write returns the first response. */
  async function onceIfNotFull(write: Write, added: number, plan: Plan): Promise<WriteResult> {
    return once(write, (await written(isFull(write.projectId, added))) ? rejected : plan);
  }

  return {
    saveMemory: (write) => once(write, planSave(write)),
    updateMemory: (write) => once(write, planUpdate(write)),
    deleteMemory: (write) => once(write, planDelete(write)),
    eraseUser: (write) => once(write, planErasure(write)),
    importMemories: (write) => {
      const added = write.memories.filter(({ status }) => status === 'processing').length;
      return onceIfNotFull(write, added, planImport(write));
    },
    acceptRecords: (write) => onceIfNotFull(write, write.records.length, planRecords(write)),

    getStatus: async (read) => {
      const one = readStatuses(connection.run, { ...read, ids: [read.id] });
      return (await answered(one))[0] ?? null;
    },
    // One statement reads an unfiltered page, so the page is consistent without a snapshot.
    ...createPooledReads(readers, {
      getMemory: (read) => answered(readMemory(connection.run, read)),
      listMemories: (read) => answered(readList(connection.run, read)),
    }),

    ...tasks.queue,
    ...vectors,

    ...createKeyWrites(connection),
    listKeys: () => answered(listKeys(connection.run)),
    findKey: (hash) => answered(findKey(connection.run, hash)),

    takeQuota: (take) => written(takeQuota(quotas, take)),
    maintain: (run) => written(maintenance.maintain(run)),
    // PostgreSQL itself verifies page checksums, if they are enabled.
    findDamage: async () => [],
    health: async () => health.state(),
    figures: () => answered(readFigures(connection.run)),
  };
}

async function readFigures(run: Run): Promise<StorageFigures> {
  const [size] = await query<{ bytes: number }>(
    run,
    'SELECT pg_database_size(current_database())::float8 AS bytes',
  );
  return { databaseBytes: size?.bytes ?? 0, logBytes: null, lastBackupAt: null };
}
