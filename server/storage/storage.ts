import type { Order } from '../../sdk/contract/page.ts';
import type { UserOrder } from '../../sdk/contract/project.ts';
import type { TaskStatus } from '../../sdk/contract/tasks.ts';
import type { KeyStorage } from './key-storage.ts';
import type { MaintenanceStorage } from './maintenance-storage.ts';
import type { Measurement, QuotaGrant, QuotaRequest, UserPage } from './project-storage.ts';
import type { TaskQueue } from './task-storage.ts';
import type {
  Batch,
  ExpectedVersion,
  Filter,
  ImportedMemory,
  MemoryChanges,
  NewMemory,
  Page,
  PageRange,
  Part,
  Read,
  Search,
  SearchResult,
  StorageConnection,
  StoredMemory,
  StoredStatus,
  Write,
  WriteResult,
} from './types.ts';
import type { VectorQueue } from './vector-storage.ts';

/*
 * The service's interface to a database: a flat list of named, atomic operations. An operation
 * receives all data that must commit together, and resolves only when that data is durable.
 * Arguments and results are plain data, without functions, transactions or HTTP objects, so a
 * backend may run in other threads or on another machine. The conformance suite tests every backend
 * against these comments.
 *
 * Any operation may throw a ServiceError: `unavailable` if the database cannot serve the operation
 * now (nothing was stored), or `internal` if the outcome of a write is unknown. Times are
 * milliseconds since 1970, and the caller passes the current time. Every operation treats memories
 * past their `expiresAt` as nonexistent. A write that would leave a complete memory as it is has no
 * effect except that its response is stored; see `changesNothing`.
 */
export interface Storage extends KeyStorage, MaintenanceStorage, TaskQueue, VectorQueue {
  /** The backend's name, as shown in /health. */
  readonly name: string;

  /**
   * Stores a memory with the status `complete`. An existing memory with the same user, source and
   * external id is replaced and keeps its id, and its pending task is canceled. The response
   * status is 201 for a new memory and 200 for a replaced memory. Throws `precondition_failed` if a
   * version is expected, and no such memory has it.
   */
  saveMemory(
    write: Write & { memory: NewMemory; expectedVersion?: ExpectedVersion },
  ): Promise<WriteResult>;

  /**
   * Replaces the given fields. Pending work on the memory is canceled, and its status becomes
   * `complete`. Throws `not_found` if the memory does not exist, and `precondition_failed` if its
   * version is not the expected version.
   */
  updateMemory(
    write: Write & { id: string; changes: MemoryChanges; expectedVersion: ExpectedVersion },
  ): Promise<WriteResult>;

  /**
   * Deletes the memory, its tasks and its data in stored responses. Throws the same errors as
   * `updateMemory`.
   */
  deleteMemory(
    write: Write & { id: string; expectedVersion: ExpectedVersion },
  ): Promise<WriteResult>;

  /**
   * Deletes all memories that the user has when the operation begins, in the same way as
   * `deleteMemory`, and returns their number. A large erasure may use several transactions, so that
   * other writes can run in between. The last transaction stores the response. The backend later
   * overwrites the deleted text on disk, as far as possible.
   */
  eraseUser(write: Write & { userId: string }): Promise<WriteResult>;

  /**
   * Stores memories with the given ids, times, types, versions and statuses, and queues those with
   * the status `processing`. Skips ids that already exist. Does not store items that have expired.
   * An item fails if another memory has the same user, source and external id. Throws
   * `rate_limited` under the same condition as `acceptRecords`.
   */
  importMemories(write: Write & { memories: ImportedMemory[]; batch: Batch }): Promise<WriteResult>;

  /**
   * Stores the records in order, each with a task to index it. An existing memory with the same
   * user, source and external id is replaced and keeps its id and creation time. A lease on the
   * task for the old text becomes invalid. `batch` is null for a single record. Throws
   * `rate_limited` if too many tasks of the project are pending.
   */
  acceptRecords(write: Write & { records: NewMemory[]; batch: Batch | null }): Promise<WriteResult>;

  /** Returns the memory, or null if it does not exist. */
  getMemory(read: Read & Part & { id: string }): Promise<StoredMemory | null>;

  /** Returns the processing status of the memory, or null if the memory does not exist. */
  getStatus(read: Read & { id: string }): Promise<StoredStatus | null>;

  /** Returns the statuses of the memories that exist, in the order of the requested ids. */
  getStatuses(read: Read & { ids: string[] }): Promise<StoredStatus[]>;

  /**
   * Returns up to `limit` memories of the user that match the filter, starting after the position
   * `after`. Memories are ordered by creation time, then by id. A page with large texts contains
   * fewer memories.
   */
  listMemories(
    read: Read & Part & { userId: string; filter: Filter; order: Order } & PageRange,
  ): Promise<Page>;

  /**
   * Returns a page of the project's memories or, if the API key is bound to a user, of that user's
   * memories. The order is stable but unspecified, and each memory appears once.
   */
  exportMemories(read: Read & PageRange): Promise<Page>;

  /**
   * Returns the user's memories that match a query, best first. The search covers every write
   * that was acknowledged before the call. `signal` cancels a search that is still waiting. Throws
   * `invalid_request` if the texts are too large for one response, and `unavailable` if the search
   * would wait too long.
   */
  searchMemories(read: Search, signal?: AbortSignal): Promise<SearchResult>;

  /**
   * Returns the project's users who have memories, ordered by id. In the order of their memories or
   * bytes, returns only one page, with the largest users first.
   */
  listUsers(read: Read & PageRange & { order: UserOrder }): Promise<UserPage>;

  /**
   * Returns the project's memories with this status, and what the queue knows of them. Memories are
   * ordered as by `listMemories`, newest first. A page with large texts contains fewer memories.
   */
  listTasks(read: Read & PageRange & { status: TaskStatus }): Promise<Page>;

  /**
   * Measures a part of the project's memories. The parts are in the order of the users, and so
   * short that other reads do not have to wait. `after` is the `next` of the previous part, or null
   * for the first part.
   */
  measureMemories(
    read: Read & { after: string | null },
  ): Promise<{ sum: Measurement; next: string | null }>;

  /** Returns the project's id. Creates the project if it does not exist. */
  ensureProject(name: string): Promise<number>;

  /**
   * Reserves part of a project's rate limit for this server; see QuotaRequest. Null if only one
   * server can use the storage.
   */
  readonly reserveQuota: ((request: QuotaRequest) => Promise<QuotaGrant>) | null;

  /** Returns the data that another thread needs to open the same storage with `connectStorage`. */
  connection(): StorageConnection;

  /** Commits waiting writes and closes the storage. No operation may be called afterwards. */
  close(): Promise<void>;
}

/** The operations that the queue's worker needs. */
export type TaskStorage = Omit<TaskQueue, 'taskQueueState'> & Pick<Storage, 'close'>;

/** The operations of another thread's connection to the storage. */
export type ConnectedStorage = TaskStorage & VectorQueue;
