import { isUnfiltered } from '../memory/filter.ts';
import { mayAccess } from '../memory/visibility.ts';
import type { Threads } from '../threads/start.ts';
import type { Engine, ReadOperation, ShortEngine, ShortRead, WriteOperation } from './engine.ts';
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
import { exportMemories, type List, listFiltered, listMemories } from './operations/lists.ts';
import { maintain } from './operations/maintenance.ts';
import { deleteMemory, saveMemory, updateMemory } from './operations/memories.ts';
import { listTasks, listUsers, measureMemories } from './operations/project.ts';
import {
  type Get,
  type GetStatus,
  getMemory,
  getStatus,
  getStatuses,
  readTexts,
  taskQueueState,
} from './operations/reads.ts';
import { searchMemories, storeSnapshotOf } from './operations/search.ts';
import { nextUnstored, storeSnapshot } from './operations/snapshots.ts';
import {
  claimTasks,
  completeTasks,
  failTask,
  recoverTasks,
  releaseTask,
} from './operations/tasks.ts';
import { importMemories } from './operations/transfer.ts';
import { storeVectorPart } from './operations/vector-parts.ts';
import {
  embeddingBacklog,
  ensureModel,
  memoriesToEmbed,
  presentModel,
  storeVectors,
  usersToEmbed,
} from './operations/vectors.ts';
import type { StorageFigures, StorageHealth } from './types/maintenance.ts';
import type { Page, Search, SearchResult, StorageConnection } from './types/memories.ts';
import type { QuotaGrant, QuotaRequest } from './types/project.ts';

/*
 * The service's interface to a database: a flat list of named, atomic operations. An operation
 * receives all data that must commit together, and resolves only when that data is durable.
 * Arguments and results are plain data, without functions, transactions or HTTP objects, so a
 * backend may run in other threads or on another machine. Each operation's comment is its contract:
 * the conformance suite tests every backend against these comments.
 *
 * Any operation may throw a ServiceError: `unavailable` if the database cannot serve the operation
 * now (nothing was stored, except as `eraseUser` says), or `internal` if the outcome of a write is
 * unknown. Times are milliseconds since 1970, and the caller passes the current time. Every
 * operation treats memories past their `expiresAt` as nonexistent. A write that would leave a
 * complete memory as it is has no effect except that its response is stored; see `changesNothing`.
 */
export type Storage = ReturnType<typeof createStorage> & Backend;

/** The operations of another thread's connection to the storage. */
export type ConnectedStorage = ReturnType<typeof createConnectedStorage> & Pick<Backend, 'close'>;

/** What the queue's worker needs. */
export type TaskStorage = Pick<
  ConnectedStorage,
  'readTexts' | 'claimTasks' | 'completeTasks' | 'failTask' | 'releaseTask' | 'recoverTasks'
>;

/** Any thread may call a write. */
const writes = {
  saveMemory,
  updateMemory,
  deleteMemory,
  eraseUser,
  importMemories,
  acceptRecords,

  claimTasks,
  completeTasks,
  failTask,
  releaseTask,
  recoverTasks,

  ensureModel,
  storeVectors,

  createKey,
  revokeKey,
  touchKeys,
  ensureProject,
  maintain,
};

/** The reads that run in a reader thread. */
const reads = {
  getStatuses,
  exportMemories,
  listUsers,
  listTasks,
  measureMemories,
  taskQueueState,
  embeddingBacklog,
  nextUnstored,
  storeSnapshotOf,
};

/** The reads that run on the calling thread's own connection. */
const shortReads = {
  listKeys,
  findKey,
  readTexts,
  presentModel,
  usersToEmbed,
  memoriesToEmbed,
};

/** The operations of the writer thread and of reader threads, by the names in messages to them. */
export const threadWrites = { ...writes, storeSnapshot, storeVectorPart };
export const threadReads = { ...reads, getMemory, listFiltered, searchMemories };

const names = new Map<object, string>(
  Object.entries({ ...threadWrites, ...threadReads }).map(([name, operation]) => [operation, name]),
);

export function nameOf(operation: object): string {
  const name = names.get(operation);
  if (name === undefined) throw new Error('the operation is in no table of threads');
  return name;
}

export type OpenOptions = {
  /** Called with problems that occur outside requests. */
  warn?(message: string, error?: unknown): void;
  threads?: Threads;
  /** How long to wait for a database server that is starting. */
  startWithinMs?: number;
};

const noPage: Page = { items: ['[]'], next: null };
const noResult: SearchResult = { items: ['[]'], meaning: 'off' };

/** Runs the operations on an engine. */
export function createStorage(engine: Engine) {
  return {
    ...createConnectedStorage(engine),
    ...callsOf(reads, engine.read<unknown, unknown>),
    getMemory: (input: Get) =>
      input.range === undefined
        ? engine.readShort(getMemory, input)
        : engine.read(getMemory, input),
    async getStatus(input: GetStatus) {
      const status = await engine.readShort(getStatus, input);
      // mutate-ignore removal: affects only speed
      if (status !== 'long') return status;
      const [counted = null] = await engine.read(getStatuses, { ...input, ids: [input.id] });
      return counted;
    },
    async listMemories(input: List) {
      if (!mayAccess(input.onlyUserId, input)) return noPage;
      const isShort = isUnfiltered(input.filter) && input.range === undefined;
      const page = isShort ? await engine.readShort(listMemories, input) : 'long';
      return page === 'long' ? engine.read(listFiltered, input) : page;
    },
    /** `signal` cancels a search that is still waiting. */
    async searchMemories(input: Search, signal?: AbortSignal) {
      if (!mayAccess(input.onlyUserId, input)) return noResult;
      const index = JSON.stringify([input.projectId, input.userId]);
      return (await engine.search(searchMemories, input, { index, signal })) ?? noResult;
    },
    // Read first, so that a server can start and serve reads on a full disk.
    ensureProject: async (name: string) =>
      (await engine.readShort(findProject, name)) ?? engine.write(ensureProject, name),
  };
}

export function createConnectedStorage(engine: ShortEngine) {
  return {
    ...callsOf(writes, engine.write<unknown, unknown>),
    ...callsOf(shortReads, engine.readShort<unknown, unknown>),
  };
}

type Calls<Operations> = {
  [Name in keyof Operations]: Operations[Name] extends
    | WriteOperation<infer Input, infer Result>
    | ReadOperation<infer Input, infer Result>
    | ShortRead<infer Input, infer Result>
    ? (input: Input) => Promise<Result>
    : never;
};

function callsOf<Operation, Operations extends Record<string, Operation>>(
  operations: Operations,
  run: (operation: Operation, input: unknown) => Promise<unknown>,
) {
  const calls = Object.entries(operations).map(([name, operation]) => {
    return [name, (input: unknown) => run(operation, input)];
  });
  return Object.fromEntries(calls) as Calls<Operations>;
}

/** What a backend does itself. */
type Backend = {
  /** The backend's name, as shown in /health. */
  readonly name: string;

  /**
   * Reserves part of a project's rate limit for this server; see QuotaRequest. Null if only one
   * server can use the storage.
   */
  readonly reserveQuota: ((request: QuotaRequest) => Promise<QuotaGrant>) | null;

  /** Runs a slow, thorough integrity check. Returns the damage, or an empty array. */
  findDamage(): Promise<string[]>;

  /** Reports why writes fail, if they do, and any warning for the operator. Never throws. */
  health(): Promise<StorageHealth>;

  /** Returns the size of the database and the time of its last backup. */
  figures(): Promise<StorageFigures>;

  /** Returns the data that another thread needs to open the same storage with `connectStorage`. */
  connection(): StorageConnection;

  /** Commits waiting writes and closes the storage. No operation may be called afterwards. */
  close(): Promise<void>;
};
