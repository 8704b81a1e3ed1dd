import type { MemoryStatus, MemoryType } from '../../sdk/contract/memory.ts';
import type { Order } from '../../sdk/contract/page.ts';
import type { TaskQueue } from './task-storage.ts';

/*
 * The service's interface to a database: a flat list of named, atomic operations. Each takes all
 * data that must commit together and resolves only once it is durable. Arguments and results are
 * plain data, without functions, transactions or HTTP, so a backend may run in other threads or on
 * another machine. The conformance suite checks every backend against the comments here.
 *
 * Any operation may throw a ServiceError: `unavailable` if the database cannot work now (nothing
 * was stored), `internal` if the outcome of a write is unknown. Times are milliseconds since 1970
 * and are passed in. Memories past their `expiresAt` do not exist for any operation.
 */
export interface Storage extends TaskQueue {
  /** The name of the backend in /health. */
  readonly name: string;

  /**
   * Stores a complete memory. An existing memory with the same user, source and external id is
   * replaced and keeps its id; its pending task is dropped. The status is 201 for a new memory, 200
   * for a replaced one.
   */
  saveMemory(write: Write & { memory: NewMemory }): Promise<WriteResult>;

  /**
   * Replaces the given fields. Pending work on the memory is dropped, and its status becomes
   * complete. Throws `not_found`, and `precondition_failed` if the version is not the expected one.
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
   * Removes all memories that the user had when it began, as `deleteMemory` does, and returns their
   * number. A user with many memories is erased in several transactions, so that other writes can
   * run in between; the last one stores the response. The backend overwrites the text on the disk
   * later, as far as it can.
   */
  eraseUser(write: Write & { userId: string }): Promise<WriteResult>;

  /**
   * Stores memories with their ids, times, types, versions and statuses; those that are
   * `processing` are queued. Skips ids that exist. An item fails if another memory has the same
   * user, source and external id. Throws `rate_limited` as `acceptRecords` does.
   */
  importMemories(write: Write & { memories: ImportedMemory[]; batch: Batch }): Promise<WriteResult>;

  /**
   * Stores the records in order, each with a task to index it. An existing memory with the same
   * user, source and external id is replaced and keeps its id and creation time; a lease on the
   * task of the older text becomes invalid. `batch` is null for a single record. Throws
   * `rate_limited` if too many tasks of the project are pending.
   */
  acceptRecords(write: Write & { records: NewMemory[]; batch: Batch | null }): Promise<WriteResult>;

  /** The memory, or null. */
  getMemory(read: Read & { id: string }): Promise<StoredMemory | null>;

  /** The state of the work on the memory, or null if the memory does not exist. */
  getStatus(read: Read & { id: string }): Promise<StoredStatus | null>;

  /** The statuses of the ids that exist, in the order of the request. */
  getStatuses(read: Read & { ids: string[] }): Promise<StoredStatus[]>;

  /**
   * At most `limit` memories of the user that match the filter, after `after`, in order of
   * creation, ties by id; fewer where their texts are large.
   */
  listMemories(
    read: Read & { userId: string; filter: Filter; order: Order } & PageRange,
  ): Promise<Page>;

  /** A page of all memories of the project or the user, each once, in an arbitrary stable order. */
  exportMemories(read: Read & PageRange): Promise<Page>;

  /**
   * The memories of a user that match a query, best first. Sees every write that was answered
   * before the call. `signal` cancels a search that is still waiting. Throws `invalid_request` if
   * the texts are too large for one response, and `unavailable` if it would wait too long.
   */
  searchMemories(
    read: Read & { userId: string; query: string; filter: Filter; limit: number },
    signal?: AbortSignal,
  ): Promise<SearchResult>;

  /** The users of the project that have memories, ordered by id. */
  listUsers(read: Read & PageRange): Promise<Page>;

  /** Stores a key by its hash, and creates the project if it does not exist. */
  createKey(key: NewKey): Promise<StoredKey>;

  /** Every key, oldest first; revoked and expired ones too. */
  listKeys(): Promise<StoredKey[]>;

  /** The key with this hash, or null; revoked and expired ones too. */
  findKey(hash: string): Promise<StoredKey | null>;

  /** Returns false if the key does not exist or was revoked before. */
  revokeKey(id: string, at: number): Promise<boolean>;

  /** Records when keys were last used. */
  touchKeys(used: { id: string; at: number }[]): Promise<void>;

  /** Returns the id of the project, and creates the project if it does not exist. */
  ensureProject(name: string): Promise<number>;

  /**
   * Takes some of the requests that a project may send in a window, for all servers that share the
   * storage; see QuotaTake. Null where no other server can: the rate limit is counted in memory.
   */
  readonly takeQuota: ((take: QuotaTake) => Promise<QuotaTaken>) | null;

  /**
   * One bounded step of the periodic cleanup: expired memories, idempotency keys past their
   * retention, erased text. `elapsedMs` is the time since the last call by a monotonic clock. A key
   * expires only by both clocks, so a jump of the wall clock removes none too early.
   */
  maintain(run: { now: number; elapsedMs: number }): Promise<MaintenanceReport>;

  /** Checks for damage more thoroughly than opening does; may take long. Empty if there is none. */
  findDamage(): Promise<string[]>;

  /** Reports why writes fail, and warnings for the operator. Never throws. */
  health(): Promise<StorageHealth>;

  /** The data with which another thread of this process can open the same storage; see open.ts. */
  connection(): StorageConnection;

  /** Commits waiting writes, then closes. No operation may follow. */
  close(): Promise<void>;
}

/**
 * The common fields of a client's writes. `onlyUserId` is the user that the API key is bound to:
 * updates and deletes of another user's memory throw `not_found`.
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
 * A response that is stored for replays; the body is empty for 204. `memoryId` and `version` are
 * set if the body is one memory.
 */
export type StoredResponse = {
  status: number;
  body: string;
  memoryId: string | null;
  version: number | null;
};

export type WriteResult = { response: StoredResponse; replayed: boolean };

/** `onlyUserId` restricts a read to the user that the API key is bound to. */
export type Read = { projectId: number; now: number; onlyUserId?: string | null };

/** `after` is the `next` of the previous page, or null for the first. */
export type PageRange = { after: string | null; limit: number };

/** The JSON array of the contract, as text or, if it is large, as UTF-8 bytes. */
export type ItemsJson = string | Uint8Array;

/** `next` is null only on the last page. */
export type Page = { items: ItemsJson; next: string | null };

export type SearchResult = { items: ItemsJson };

/** The filters of a list or a search, combined with AND; null matches anything. */
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

/** The indexes of the valid items of a request, and the failures of the invalid ones. */
export type Batch = { indexes: number[]; failed: ItemFailure[] };

/** The failure of one item; `index` is its index in the request, from 0. */
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

/** Undefined fields stay unchanged. */
export type MemoryChanges = {
  content?: string;
  /** JSON text of an object. */
  metadata?: string;
  occurredAt?: number | null;
  expiresAt?: number | null;
};

export type StoredMemory = NewMemory & {
  status: MemoryStatus;
  /** Starts at 1 and counts changes of content, metadata, occurredAt and expiresAt. */
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
  /** Whether to call `maintain` again immediately. */
  more: boolean;
};

/**
 * `amount` of the `limit` requests that a project may send in `seconds`. A window begins with the
 * first take after the end of the last one, by the database's clock.
 */
export type QuotaTake = { projectId: number; amount: number; limit: number; seconds: number };

/**
 * `granted` is at most the amount; the grants of a window are never more than its limit. `untaken`
 * is what is left for other takes, `endsAt` names the window, which ends in `endsInMs`.
 */
export type QuotaTaken = { granted: number; untaken: number; endsAt: number; endsInMs: number };

/** `fault`: why writes fail. `warning`: a problem for the operator that does not affect writes. */
export type StorageHealth = { fault: string | null; warning: string | null };

/** Plain data and ports, to pass to a thread. */
export type StorageConnection = { data: unknown; transfer: readonly unknown[] };

export type NewKey = {
  id: string;
  project: string;
  name: string;
  /** SHA-256 of the key, in hex. The key itself is never stored. */
  hash: string;
  prefix: string;
  lastFour: string;
  /** The user that the key is bound to, or null for the whole project. */
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
