import type { MemoryStatus, MemoryType } from '../../sdk/contract/memory.ts';
import type { Order } from '../../sdk/contract/page.ts';
import type { TaskQueue } from './task-storage.ts';

/*
 * What the service needs of a database: a flat list of named, atomic operations. Each takes all
 * that must commit together and resolves only once that is durable. Data goes in and data comes
 * out: no function, transaction or HTTP crosses this line, so a backend may run in threads of its
 * own or on another machine. The conformance suite holds every backend to the comments here.
 *
 * Any operation may throw a ServiceError: `unavailable` where the database cannot work now (nothing
 * was stored), `internal` where the outcome of a write is unknown. Times are milliseconds since
 * 1970 and are passed in. Memories past their `expiresAt` do not exist for any operation.
 */
export interface Storage extends TaskQueue {
  /** Which backend this is, as /health names it. */
  readonly name: string;

  /**
   * Stores a new, complete memory. One whose user, source and external id exist already is replaced
   * under its id; its pending task is dropped. Status 201 for a new memory, 200 for a replaced one.
   */
  saveMemory(write: Write & { memory: NewMemory }): Promise<WriteResult>;

  /**
   * Replaces what is given and leaves the rest. Pending work on the memory is dropped: it is
   * complete. Throws `not_found`, and `precondition_failed` for another version than the expected.
   */
  updateMemory(
    write: Write & { id: string; changes: MemoryChanges; expectedVersion: number | null },
  ): Promise<WriteResult>;

  /**
   * Removes the memory and its tasks, and removes its text from stored responses. Throws as
   * `updateMemory` does.
   */
  deleteMemory(write: Write & { id: string; expectedVersion: number | null }): Promise<WriteResult>;

  /**
   * Removes everything that the user had when it began, as `deleteMemory` does, and returns how
   * many memories that was. A user with many is erased in several transactions, so that the writes
   * of others go on in between; the response is stored with the last. What the text was is
   * overwritten on the disk later, as far as the backend can promise that.
   */
  eraseUser(write: Write & { userId: string }): Promise<WriteResult>;

  /**
   * Stores memories as they are given: ids, times, types, versions and status kept, those that are
   * `processing` queued. Skips ids that exist; fails items whose user, source and external id name
   * another memory. Throws `rate_limited` as `acceptRecords` does.
   */
  importMemories(write: Write & { memories: ImportedMemory[]; batch: Batch }): Promise<WriteResult>;

  /**
   * Stores the records, in their order, each with a task to index it. One whose user, source and
   * external id exist already replaces that memory, under its id and with its creation time, and
   * takes the task from whoever works on the older text. `batch` is null for a single record.
   * Throws `rate_limited` when too many tasks of the project are pending.
   */
  acceptRecords(write: Write & { records: NewMemory[]; batch: Batch | null }): Promise<WriteResult>;

  /** The memory, or null. */
  getMemory(read: Read & { id: string }): Promise<StoredMemory | null>;

  /** The state of the work on the memory, or null where there is no such memory. */
  getStatus(read: Read & { id: string }): Promise<StoredStatus | null>;

  /** The statuses of those ids that exist, in the order asked. */
  getStatuses(read: Read & { ids: string[] }): Promise<StoredStatus[]>;

  /**
   * At most `limit` memories of the user that match the filter, after `after`, in order of
   * creation, ties by id; fewer where their texts are large.
   */
  listMemories(
    read: Read & { userId: string; filter: Filter; order: Order } & PageRange,
  ): Promise<Page>;

  /** A page of all memories of the project or the user, each once, in an order of the backend. */
  exportMemories(read: Read & PageRange): Promise<Page>;

  /**
   * The memories of a user that answer a query, best first. Sees every write that was answered
   * before it was called. `signal` gives up a search that is still waiting. Throws
   * `invalid_request` where the texts are too large for one response, and `unavailable` where it
   * would wait too long.
   */
  searchMemories(
    read: Read & { userId: string; query: string; filter: Filter; limit: number },
    signal?: AbortSignal,
  ): Promise<SearchResult>;

  /** The users of the project that have memories, by their ids. */
  listUsers(read: Read & PageRange): Promise<Page>;

  /** Stores a key by its hash, creating the project where it is new. */
  createKey(key: NewKey): Promise<StoredKey>;

  /** Every key, oldest first; revoked and expired ones too. */
  listKeys(): Promise<StoredKey[]>;

  /** The key with this hash, or null; revoked and expired ones too. */
  findKey(hash: string): Promise<StoredKey | null>;

  /** False where no such key exists or it was revoked before. */
  revokeKey(id: string, at: number): Promise<boolean>;

  /** Records when keys were last used. */
  touchKeys(used: { id: string; at: number }[]): Promise<void>;

  /** The id of the project, which is created where it is new. */
  ensureProject(name: string): Promise<number>;

  /**
   * Periodic cleanup, a bounded part of it at a time: expired memories, idempotency keys past their
   * retention, erased text. `elapsedMs` is the time since the last call by a clock that is never
   * set: a key is kept for the retention by both clocks, so a wall clock that jumps forgets none.
   */
  maintain(run: { now: number; elapsedMs: number }): Promise<MaintenanceReport>;

  /** Looks for structural damage that opening did not look for; may take long. Empty for none. */
  findDamage(): Promise<string[]>;

  /** Why writes fail, and what the operator should look at. Never throws. */
  health(): Promise<StorageHealth>;

  /** What another thread of this process needs to work with the same storage; see open.ts. */
  connection(): StorageConnection;

  /** Commits what is waiting, then closes. No operation may follow. */
  close(): Promise<void>;
}

/**
 * What every client's write carries. `onlyUserId` is the user that the API key is bound to: updates
 * and deletes of another user's memory throw `not_found`.
 */
export type Write = {
  projectId: number;
  at: number;
  onlyUserId?: string | null;
  idempotency: Idempotency | null;
};

/**
 * The same key and fingerprint get the first response again and have no second effect; the same key
 * with another fingerprint throws `idempotency_key_reused`. `scope` is the user that the API key is
 * bound to, or ''.
 */
export type Idempotency = { scope: string; key: string; fingerprint: string };

/**
 * A response as it is stored and sent again; the body is empty for 204. `memoryId` and `version`
 * are set where the body is one memory.
 */
export type StoredResponse = {
  status: number;
  body: string;
  memoryId: string | null;
  version: number | null;
};

export type WriteResult = { response: StoredResponse; replayed: boolean };

/** `userId` narrows a read to one user: the one that the API key is bound to. */
export type Read = { projectId: number; now: number; onlyUserId?: string | null };

/** `after` is the `next` of the page before, or null for the first. */
export type PageRange = { after: string | null; limit: number };

/** The JSON array of the contract, as text; a large one as UTF-8, ready to be sent. */
export type ItemsJson = string | Uint8Array;

/** `next` is null at the end, and only there. */
export type Page = { items: ItemsJson; next: string | null };

export type SearchResult = { items: ItemsJson };

/** What a list or a search is narrowed to; all of it must hold, and null matches anything. */
export type Filter = {
  type: MemoryType | null;
  source: string | null;
  externalId: string | null;
  /** Bounds of the memory's time: from ≤ time < to. */
  from: number | null;
  to: number | null;
  /** Top-level keys of the metadata, compared as `matchesMetadata` does. */
  metadata: { key: string; value: string }[];
};

/** Of the items of a request: the places of the valid ones, and why the others failed. */
export type Batch = { indexes: number[]; failed: ItemFailure[] };

/** Why an item failed; `index` is its place in the items sent, from 0. */
export type ItemFailure = { index: number; error: string; message: string };

export type NewMemory = {
  id: string;
  userId: string;
  type: MemoryType;
  content: string;
  /** JSON text of an object. */
  metadata: string;
  source: string | null;
  externalId: string | null;
  occurredAt: number | null;
  expiresAt: number | null;
};

/** What is undefined stays as it is. */
export type MemoryChanges = {
  content?: string;
  /** JSON text of an object. */
  metadata?: string;
  occurredAt?: number | null;
  expiresAt?: number | null;
};

export type StoredMemory = NewMemory & {
  status: MemoryStatus;
  /** Counts the changes of content, metadata, occurredAt and expiresAt, from 1. */
  version: number;
  createdAt: number;
  updatedAt: number;
};

export type ImportedMemory = StoredMemory;

export type StoredStatus = {
  memoryId: string;
  status: MemoryStatus;
  chunksComplete: number;
  chunksTotal: number;
  attempts: number;
  errorMessage: string | null;
  createdAt: number;
  updatedAt: number;
};

export type MaintenanceReport = {
  expiredMemories: number;
  expiredKeys: number;
  /** Whether there is more to do at once. */
  more: boolean;
};

/** `fault`: why writes fail. `warning`: what an operator should look at while all works. */
export type StorageHealth = { fault: string | null; warning: string | null };

/** Plain data and ports, to be handed to a thread. */
export type StorageConnection = { data: unknown; transfer: readonly unknown[] };

export type NewKey = {
  id: string;
  project: string;
  name: string;
  /** SHA-256 of the key, in hex. The key itself is never stored. */
  hash: string;
  prefix: string;
  lastFour: string;
  /** The user that the key is bound to, or null for all of the project. */
  userId: string | null;
  readOnly: boolean;
  createdAt: number;
  expiresAt: number | null;
};

export type StoredKey = Omit<NewKey, 'hash'> & {
  projectId: number;
  lastUsedAt: number | null;
  revokedAt: number | null;
};
