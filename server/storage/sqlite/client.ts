import { statSync } from 'node:fs';
import type { StorageHealth } from '../maintenance-storage.ts';
import { createPooledReads } from '../pooled-reads.ts';
import type { ReaderPool } from '../reader-pool.ts';
import type { Storage } from '../storage.ts';
import type { VectorQueue } from '../vector-storage.ts';
import { notRead } from './errors.ts';
import type { FileCheck } from './file-identity.ts';
import type { PageReads } from './reader/list.ts';
import type { KeyReads } from './reader/memories.ts';
import type { VectorReads } from './reader/vectors.ts';
import type { WriteRequest } from './write-queue.ts';
import type { WriterClient } from './writer-client.ts';

export type Parts = {
  path: string;
  fileCheck: FileCheck;
  writer: WriterClient;
  readers: ReaderPool;
  keyReads: KeyReads;
  pageReads: PageReads;
  vectorReads: VectorReads;
};

const noProject = 0;
/** The operator is warned if the WAL is larger than this. */
const longLogBytes = 256 * 1024 * 1024;

type Operations = Omit<Storage, 'name' | 'findDamage' | 'connection' | 'close'>;

export function createOperations(parts: Parts): Operations {
  const { writer, readers, keyReads, pageReads, vectorReads } = parts;
  const admin = <T>(operation: string, argument: unknown) =>
    writer.write<T>({ projectId: noProject, operation, argument });
  const run = <T>(request: WriteRequest) => {
    readers.noteActive(request.projectId);
    return writer.write<T>(request);
  };
  // The cost of an unfiltered page does not grow with the amount of stored data.
  const pooled = createPooledReads(readers, {
    getMemory: (read) => here(() => keyReads.getMemory(read)),
    listMemories: (read) => here(() => pageReads.listMemories(read)),
  });

  return {
    saveMemory: ({ memory, ...write }) =>
      run({
        projectId: write.projectId,
        operation: 'saveMemory',
        argument: { ...write, memory: withoutContent(memory) },
        texts: [memory.content],
      }),
    updateMemory: (write) =>
      run({ projectId: write.projectId, operation: 'updateMemory', argument: write }),
    deleteMemory: (write) =>
      run({ projectId: write.projectId, operation: 'deleteMemory', argument: write }),
    eraseUser: (write) =>
      run({ projectId: write.projectId, operation: 'eraseUser', argument: write }),
    importMemories: ({ memories, ...write }) =>
      run({
        projectId: write.projectId,
        operation: 'importMemories',
        argument: { ...write, memories: memories.map(withoutContent) },
        texts: memories.map(({ content }) => content),
        cost: memories.length,
      }),
    acceptRecords: ({ records, ...write }) =>
      run({
        projectId: write.projectId,
        operation: 'acceptRecords',
        argument: { ...write, records: records.map(withoutContent) },
        texts: records.map(({ content }) => content),
        cost: records.length,
      }),

    async getStatus(read) {
      const isLong = await here(() => keyReads.mustCountLongText(read));
      if (!isLong) return here(() => keyReads.getStatus(read));
      const [status = null] = await pooled.getStatuses({ ...read, ids: [read.id] });
      return status;
    },
    ...pooled,

    claimTasks: (claim) => admin('claimTasks', claim),
    completeTasks: (results) => admin('completeTasks', results),
    failTask: (failure) => admin('failTask', failure),
    releaseTask: (lease) => admin('releaseTask', lease),
    recoverTasks: (recovery) => admin('recoverTasks', recovery),
    nextTaskAt: () => here(() => keyReads.nextTaskAt()),

    ...createVectorQueue(vectorReads, admin),
    ...createCounts(readers),

    createKey: (key) => admin('createKey', key),
    listKeys: () => here(() => keyReads.listKeys()),
    findKey: (hash) => here(() => keyReads.findKey(hash)),
    revokeKey: (id, at) => admin('revokeKey', { id, at }),
    touchKeys: (used) => admin('touchKeys', used),
    // Read first, so that a server can start and serve reads on a full disk.
    ensureProject: async (name) =>
      keyReads.findProject(name) ?? (await admin('ensureProject', name)),

    takeQuota: null,
    maintain: (run) => admin('maintain', run),
    ...createReports(parts),
  };
}

/** `call` calls the writer thread. */
export function createVectorQueue(
  reads: Omit<VectorReads, 'embeddingBacklog'>,
  call: <T>(operation: string, argument: unknown) => Promise<T>,
): Omit<VectorQueue, 'embeddingBacklog'> {
  return {
    presentModel: () => here(reads.presentModel),
    ensureModel: (model) => call('ensureModel', model),
    usersToEmbed: (query) => here(() => reads.usersToEmbed(query)),
    memoriesToEmbed: (query) => here(() => reads.memoriesToEmbed(query)),
    storeVectors: (stored) => call('storeVectors', stored),
  };
}

/** Counts run in the reader threads, because their cost grows with the amount of stored data. */
function createCounts(readers: ReaderPool): Pick<Storage, 'taskQueueState' | 'embeddingBacklog'> {
  const count = async <T>(operation: string) => {
    const { value } = await readers.read({ projectId: noProject, operation, argument: null });
    return value as T;
  };
  return {
    taskQueueState: () => count('taskQueueState'),
    embeddingBacklog: () => count('embeddingBacklog'),
  };
}

function withoutContent<T extends { content: string }>(memory: T): T {
  return { ...memory, content: '' };
}

/** Runs a read in this thread. */
export async function here<T>(read: () => T): Promise<T> {
  try {
    return read();
  } catch (error) {
    throw notRead(error);
  }
}

function createReports(parts: Parts): Pick<Storage, 'health' | 'figures'> {
  const { path, keyReads } = parts;
  return {
    health: async () => stateOf(parts),
    figures: async () => ({
      databaseBytes: sizeOf(path),
      logBytes: sizeOf(`${path}-wal`),
      lastBackupAt: await here(() => keyReads.lastBackupAt()),
    }),
  };
}

function stateOf({ path, fileCheck, writer }: Parts): StorageHealth {
  const fault = fileCheck() ?? writer.fault();
  const log = sizeOf(`${path}-wal`);
  const megabytes = Math.round(log / 1_048_576);
  const isLong = log > longLogBytes; // mutate-ignore boundary: the log is never this long exactly
  const longLog = `the write-ahead log has grown to ${megabytes} MB: a read transaction has been open for too long`;
  return { fault, warning: writer.warning() ?? (isLong ? longLog : null) };
}

/** Returns 0 if the file does not exist. */
function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
