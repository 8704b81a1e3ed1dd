import type { MemoryStatus, MemoryType } from '../../sdk/contract/memory.ts';
import type { Order } from '../../sdk/contract/page.ts';

/*
 * What the service needs of a database: a flat list of named, atomic operations. Each takes all
 * that must commit together and resolves only once that is durable. No transaction object crosses
 * this line, so that a backend may be synchronous inside or not. `exerciseStorage` in the tests
 * holds every backend to what the comments here promise.
 *
 * Any operation may throw a ServiceError `unavailable` where the database cannot do its work now
 * (the disk is full, the connection is lost); nothing was stored then unless said otherwise.
 * Times are milliseconds since 1970 and are passed in.
 */
export interface Storage {
  /** Which backend this is, as /health names it. */
  readonly name: string;

  /** Stores a new, complete memory with its passages. */
  saveMemory(write: Write<StoredMemory> & { memory: NewMemory }): Promise<WriteResult>;

  /**
   * Replaces the content, and the metadata where given. Pending work on the memory is dropped: it
   * is complete. Throws `not_found`.
   */
  updateMemory(
    write: Write<StoredMemory> & {
      id: string;
      content: string;
      /** JSON text; null leaves the metadata as it is. */
      metadata: string | null;
      /** Pure. The passages, by the metadata that the memory will have. */
      index(metadata: string): Passage[];
    },
  ): Promise<WriteResult>;

  /**
   * Removes the memory, its passages and its work, and cuts stored answers that hold its text down
   * to ids. Throws `not_found`.
   */
  deleteMemory(write: Write<void> & { id: string }): Promise<WriteResult>;

  /**
   * Removes everything of the user, as `deleteMemory` does, and hands the number of memories. What
   * their text was is overwritten on the disk soon after.
   */
  deleteAllMemories(write: Write<number> & { userId: string }): Promise<WriteResult>;

  /**
   * Stores memories as they are given: ids, times, types and status kept, those that are
   * `processing` queued. Hands what became of each: `skipped` where the id is there already,
   * `taken` where another memory has its user, source and external id. Throws `rate_limited` as
   * `acceptRecords` does.
   */
  importMemories(
    write: Write<ImportOutcome[]> & { memories: ImportedMemory[] },
  ): Promise<WriteResult>;

  /**
   * Queues the records, in their order. One whose user, source and external id came before takes
   * that memory over, under its id and with its creation time, and undoes the claim of whoever
   * works on the older text. Throws `rate_limited` when the project has too much waiting.
   */
  acceptRecords(write: Write<string[]> & { records: NewMemory[] }): Promise<WriteResult>;

  /** The memory, or null. */
  getMemory(projectId: number, id: string): Promise<StoredMemory | null>;

  /**
   * At most `limit` memories of the user that the filter lets through, after `after`, in order of
   * creation, ties by id.
   */
  listMemories(range: {
    projectId: number;
    userId: string;
    filter: Filter;
    order: Order;
    after: Position | null;
    limit: number;
  }): Promise<StoredMemory[]>;

  /** At most `limit` memories of the project after the one with the id `after`, by their ids. */
  exportMemories(range: {
    projectId: number;
    after: string | null;
    limit: number;
  }): Promise<StoredMemory[]>;

  /** Every passage of the user, some at a time, in the order of memory and ordinal. Nothing of
   * others is read. */
  listPassages(projectId: number, userId: string): AsyncIterable<NumberedPassage[]>;

  /** The passage with its memory, or null where the user has it no more. */
  getPassage(
    projectId: number,
    userId: string,
    place: { memory: number; ordinal: number },
  ): Promise<(Passage & { memory: StoredMemory }) | null>;

  /** How far the work on the memory is, or null where there is no such memory. */
  getStatus(projectId: number, id: string): Promise<StoredStatus | null>;

  /**
   * Claims up to `limit` waiting jobs, fewer where their texts are long, the longest due first, and
   * counts the attempt. Due is what was never tried, what waits until `now` or earlier, and, since
   * the clock may have been set back, what waits until after `horizon`. A job that was tried before
   * is claimed alone, so that one record that brings the process down cannot use up the attempts of
   * its neighbours.
   */
  claimJobs(claim: { now: number; horizon: number; limit: number }): Promise<Job[]>;

  /**
   * Stores runs of passages, each beginning with the one numbered `first`; 0 removes what an
   * earlier attempt left. With the last of `total` the memory is complete. False for each whose
   * lease is no longer the job's, or that does not follow what is stored: nothing of it is stored.
   * Where one cannot be stored, none is.
   */
  storePassages(steps: PassageStep[]): Promise<boolean[]>;

  /** Lets the job wait until `retryAt`, or ends it as failed for null. False without the lease. */
  failJob(
    step: Lease & { now: number; retryAt: number | null; errorMessage: string },
  ): Promise<boolean>;

  /** Puts a claimed job that was not begun back as it was before the claim. */
  releaseJob(lease: Lease): Promise<boolean>;

  /**
   * Lets what was claimed and not finished wait again, and returns how many. The attempt counts
   * where the process had ended in it, and not where the database could not take the result.
   */
  recoverJobs(how: { countAttempt: boolean }): Promise<number>;

  /** When the next waiting job is due, or null. */
  nextJobAt(): Promise<number | null>;

  /** How many records wait or are worked on, and when the oldest of them was accepted. */
  queueState(): Promise<{ pending: number; oldestAcceptedAt: number | null }>;

  /** Stores a key by its hash, making the project where it is new. */
  createKey(key: NewKey): Promise<StoredKey>;

  /** Every key, oldest first; revoked and expired ones too. */
  listKeys(): Promise<StoredKey[]>;

  /** The key with this hash, or null; revoked and expired ones too. */
  findKey(hash: string): Promise<StoredKey | null>;

  /** False where no such key is there or it was revoked before. */
  revokeKey(id: string, at: number): Promise<boolean>;

  /** Notes when keys were last used. */
  touchKeys(used: { id: string; at: number }[]): Promise<void>;

  /** The id of the project, which is made where it is new. */
  ensureProject(name: string): Promise<number>;

  /** Forgets stored answers from before `before`, at most `limit`. Returns how many. */
  sweepAnswers(sweep: { now: number; before: number; limit: number }): Promise<number>;

  /**
   * Looks for damage to the database's structure that opening it did not look for, beside all other
   * work; may take long. Empty where there is none.
   */
  findDamage(): Promise<string[]>;

  /**
   * Another number after every change of what is stored, whoever made it, and at the latest when
   * the change is answered.
   */
  version(): Promise<number>;

  /** Says that somebody reads: for a while writes keep nobody waiting for a disk that is slow. */
  noteReader(): void;

  /** Throws where the database does not answer. */
  ping(): Promise<void>;

  /** What the operator has to see to, in a sentence, though the database answers; or null. */
  fault(): Promise<string | null>;

  /** Commits what is waiting, then closes. No operation may follow. */
  close(): Promise<void>;
}

/** What every client's write carries. */
export type Write<Outcome> = {
  projectId: number;
  at: number;
  idempotency: Idempotency | null;
  /** Pure. Turns the outcome into the answer, which is stored with it under the key. */
  answer(outcome: Outcome): Answer;
};

/**
 * The same key and fingerprint get the first answer again and have no second effect; the same key
 * with another fingerprint throws `idempotency_key_reused`.
 */
export type Idempotency = { key: string; fingerprint: string };

/** An HTTP answer as it is stored and sent again; the body is empty for 204. */
export type Answer = { status: number; body: string };

export type WriteResult = { answer: Answer; replayed: boolean };

/** What a list or a search is narrowed to; all of it must hold, and null stands for anything. */
export type Filter = {
  type: MemoryType | null;
  source: string | null;
  externalId: string | null;
  /** Top-level keys of the metadata, compared as `matchesMetadata` does. */
  metadata: { key: string; value: string }[];
};

/** A place in a list: everything after it comes next. */
export type Position = { createdAt: number; id: string };

/**
 * A slice of a memory's content, in UTF-16 units, and the same text as search reads it. The
 * passages of a memory cover it all.
 */
export type Passage = { start: number; length: number; folded: string };

/** A passage as search wants it; the memory's number is larger for one stored later. */
export type NumberedPassage = { memory: number; ordinal: number; folded: string };

export type NewMemory = {
  id: string;
  userId: string;
  type: MemoryType;
  content: string;
  /** JSON text of an object. */
  metadata: string;
  source: string | null;
  externalId: string | null;
  /** Empty for a record: its text is split by the queue. */
  passages: Passage[];
};

export type StoredMemory = Omit<NewMemory, 'passages'> & {
  status: MemoryStatus;
  createdAt: number;
  updatedAt: number;
};

/** With passages where it is complete. */
export type ImportedMemory = StoredMemory & { passages: Passage[] };

export type ImportOutcome = 'imported' | 'skipped' | 'taken';

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

/**
 * The right to finish a job, until somebody else claims it or its text changes. `seq` is the
 * memory's number.
 */
export type Lease = { projectId: number; userId: string; seq: number; leaseToken: number };

/** `attempt` counts from 1; `metadata` is JSON text. */
export type Job = Lease & {
  memoryId: string;
  attempt: number;
  content: string;
  metadata: string;
};

/** Some of a memory's passages, of `total`. */
export type PassageStep = Lease & {
  now: number;
  first: number;
  passages: Passage[];
  total: number;
};

export type NewKey = {
  id: string;
  project: string;
  name: string;
  /** SHA-256 of the key, in hex. The key itself is never stored. */
  hash: string;
  prefix: string;
  lastFour: string;
  createdAt: number;
  expiresAt: number | null;
};

export type StoredKey = Omit<NewKey, 'hash'> & {
  projectId: number;
  lastUsedAt: number | null;
  revokedAt: number | null;
};
