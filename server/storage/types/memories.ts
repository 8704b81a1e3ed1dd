import type { MemoryStatus, MemoryType } from '../../../sdk/contract/memory.ts';
import type { IngestStatus } from '../../../sdk/contract/status.ts';
import type { SearchMeaning } from './vectors.ts';

/**
 * The fields that all client writes have in common. `onlyUserId` is the user that the API key is
 * bound to: updates and deletes of another user's memory throw `not_found`.
 */
export type Write = {
  projectId: number;
  at: number;
  onlyUserId?: string | null;
  idempotency: Idempotency | null;
};

/**
 * A repeated write with the same key and fingerprint has no further effect and returns the first
 * response. The same key with another fingerprint throws `idempotency_key_reused`. `scope` is the
 * user that the API key is bound to, or ''.
 */
export type Idempotency = { scope: string; key: string; fingerprint: string };

/** `memoryId` is set if the body contains data of one memory, `version` if it is that memory. */
export type StoredResponse = {
  status: number;
  body: string;
  memoryId: string | null;
  version: number | null;
};

/** `changedUserId` is the owner of the memory that an update or a delete has changed. */
export type WriteResult = { response: StoredResponse; replayed: boolean; changedUserId?: string };

/** The response to a write that is not a replay. */
export type NewResponse = StoredResponse & Pick<WriteResult, 'changedUserId'>;

/** `onlyUserId` restricts a read to the user that the API key is bound to. */
export type Read = { projectId: number; now: number; onlyUserId?: string | null };

/**
 * With a range, a read returns only this part of each memory's content. Limits on the amount of
 * text then apply to the parts.
 */
export type Part = { range?: ContentRange | undefined };

/** A part of a text, in code points. */
export type ContentRange = { offset: number; length: number };

/** `after` is the `next` of the previous page, or null for the first page. */
export type PageRange = { after: string | null; limit: number };

/** Without a `meaning`, a search uses words alone. `explain` adds the parts of each score. */
export type Search = Read &
  Part & {
    userId: string;
    query: string;
    filter: Filter;
    limit: number;
    meaning?: SearchMeaning | null;
    explain?: boolean;
  };

/** A JSON array in the format of the API, in pieces that must be concatenated. */
export type ItemsJson = readonly string[];

/** `next` is null only on the last page. */
export type Page = { items: ItemsJson; next: string | null };

export type SearchResult = { items: ItemsJson } & MeaningUsed;

/**
 * Whether vectors took part in the ranking: of all memories, not at all, or of some. `missing` is
 * the number of memories without vectors of their present text.
 */
export type MeaningUsed = { meaning: 'used' | 'off' } | { meaning: 'partial'; missing: number };

/** The filters of a list or a search, combined with AND. A null filter matches every memory. */
export type Filter = {
  type: MemoryType | null;
  status: MemoryStatus | null;
  source: string | null;
  externalId: string | null;
  /** Bounds of the memory's time, with `from` inclusive and `to` exclusive. */
  from: number | null;
  to: number | null;
  /** Expected values of top-level metadata keys, compared by `matchesMetadata`. */
  metadata: { key: string; value: string }[];
};

/** The indexes of a request's valid items, and the failures of its invalid items. */
export type Batch = { indexes: number[]; failed: ItemFailure[] };

/** The failure of one item. `index` is the position of the item in the request, from 0. */
export type ItemFailure = { index: number; error: string; message: string };

export type NewMemory = {
  id: string;
  userId: string;
  type: MemoryType;
  content: string;
  /** A JSON object as text. */
  metadata: string;
  source: string | null;
  externalId: string | null;
  occurredAt: number | null;
  expiresAt: number | null;
};

/** The version that a memory must have: `any` if it must exist, null without a condition. */
export type ExpectedVersion = number | 'any' | null;

/** Undefined fields stay unchanged. */
export type MemoryChanges = Partial<
  Pick<NewMemory, 'content' | 'metadata' | 'occurredAt' | 'expiresAt'>
>;

export type StoredMemory = NewMemory & {
  status: MemoryStatus;
  /** Starts at 1 and is incremented when content, metadata, occurredAt or expiresAt changes. */
  version: number;
  createdAt: number;
  updatedAt: number;
  /** The length of the whole content, in code points. Set if `getMemory` reads a part of it. */
  contentLength?: number;
};

export type StoredTask = StoredMemory & { attempts: number; errorMessage: string | null };

export type StoredStatus = Omit<IngestStatus, 'status' | 'createdAt' | 'updatedAt'> &
  Pick<StoredMemory, 'status' | 'createdAt' | 'updatedAt'>;

/** Plain data and ports that can be posted to a thread. */
export type StorageConnection = { data: unknown; transfer: readonly MessagePort[] };
