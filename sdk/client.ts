import { type ApiPromise, apiPromise } from './api-promise.ts';
import { type Call, openCall } from './call.ts';
import type { Memory, SavedMemory, SaveRequest, UpdateRequest } from './contract/memory.ts';
import type { ListQuery } from './contract/page.ts';
import type { ApiKey, Stats, UserPage, UsersQuery } from './contract/project.ts';
import type { SearchAnswer, SearchQuery } from './contract/search.ts';
import type { Health, IngestStatus, IngestStatuses } from './contract/status.ts';
import type { TaskPage, TasksQuery } from './contract/tasks.ts';
import type {
  DeleteAllQuery,
  Deleted,
  ExportQuery,
  Imported,
  ImportRequest,
} from './contract/transfer.ts';
import { Ingest } from './ingest.ts';
import {
  type CallOptions,
  type ClientOptions,
  type ConditionalOptions,
  type Replayable,
  readSettings,
} from './options.ts';
import { type PagePromise, pagePromise } from './pages.ts';
import { type WaitOptions, waitUntilComplete } from './poll.ts';

/**
 * A client for a memory service. It holds no connection and can be shared; the constructor does no
 * I/O. Failed reads and writes are retried, which is safe because every write has an idempotency
 * key.
 *
 * ```ts
 * const memory = new MemoryClient(); // MEMORY_API_KEY and MEMORY_BASE_URL, or { apiKey, baseUrl }
 * await memory.save({ userId: 'u-1', content: 'Prefers dark mode' });
 * ```
 */
export class MemoryClient {
  /** Ingests tickets, documents, conversations, events and profiles. */
  readonly ingest: Ingest;
  /** The URL of the service, without a trailing slash. */
  readonly baseUrl: string;
  readonly #call: Call;

  /**
   * Throws `InvalidRequestError` for an invalid option. If the API key is missing, the first call
   * that requires a key fails.
   */
  constructor(options?: ClientOptions) {
    const settings = readSettings(options ?? {});
    this.#call = openCall(settings);
    this.baseUrl = settings.baseUrl;
    this.ingest = new Ingest(this.#call);
  }

  /**
   * Saves text for a user; the memory is `complete` immediately. If the user already has a memory
   * with the same `source` and `externalId`, that memory is replaced and keeps its id. The call is
   * safe to repeat with the same `idempotencyKey`; if the memory has been deleted since, the result
   * is `{ id, memoryId, deleted: true }`.
   *
   * Errors: `InvalidRequestError`, `PayloadTooLargeError`, and the errors common to all calls:
   * `AuthenticationError`, `PermissionError`, `RateLimitError`, `ServerError`, `ConnectionError`,
   * `TimeoutError`, `AbortError`.
   *
   * ```ts
   * const saved = await memory.save({ userId: 'u-1', content: 'Prefers dark mode' });
   * await memory.save({ userId: 'u-1', content: 'Vegetarian', source: 'me', externalId: 'diet' });
   * ```
   */
  save(request: SaveRequest, options?: ConditionalOptions): ApiPromise<Replayable<SavedMemory>> {
    return this.#call('save', { body: request }, options);
  }

  /**
   * Lists a user's memories, by default newest first. `limit` is the page size, 1–100, default 20.
   * The filters `type`, `status`, `source`, `externalId`, `metadata`, `from` and `to` are combined
   * with AND. Errors: `InvalidRequestError` and the common errors.
   *
   * ```ts
   * const page = await memory.list({ userId: 'u-1', limit: 50 });   // page.items, page.nextCursor
   * for await (const one of memory.list({ userId: 'u-1' })) { … }   // all, fetched as needed
   * await memory.list({ userId: 'u-1', type: 'ticket', metadata: { priority: 'high' } });
   * ```
   */
  list(query?: ListQuery, options?: CallOptions): PagePromise {
    return pagePromise(this.#call, 'list', query, options);
  }

  /**
   * Searches a user's memories and returns the best match first. `query` contains words or a
   * question, without operators. If the query contains a phrase in double quotes, memories that
   * contain this phrase rank higher. `limit` is 1–100, default 10; the filters are those of `list`.
   * Memories are found by words and by meaning; `mode` restricts the search to one of them. In the
   * response, `meaning` says whether meanings were compared, and `matchedBy` how a memory was
   * found. `explain` adds the `parts` of each score. Errors: as for `list`; with `mode: 'meaning'`,
   * `InvalidRequestError` if the service has no model.
   *
   * ```ts
   * const { items } = await memory.search({ userId: 'u-1', query: 'where is my refund' });
   * for (const { snippet, highlights, matchedBy } of items) {
   *   const matched = highlights.map(({ start, end }) => [...snippet].slice(start, end).join(''));
   * }
   * ```
   */
  search(query: SearchQuery, options?: CallOptions): ApiPromise<SearchAnswer> {
    return this.#call('search', { query }, options);
  }

  /**
   * Returns a memory. Errors: `NotFoundError` and the common errors.
   *
   * ```ts
   * const { content, metadata } = await memory.get('mem_…');
   * ```
   */
  get(id: string, options?: CallOptions): ApiPromise<Memory> {
    return this.#call('get', { id }, options);
  }

  /**
   * Replaces each given field as a whole; null clears a time, and omitted fields keep their values.
   * Pending processing of the memory is canceled, and the status becomes `complete`. With
   * `ifVersion`, the call fails instead of overwriting a later change by another client. Errors:
   * `NotFoundError`, `PreconditionFailedError` and those of `save`.
   *
   * ```ts
   * const { metadata, version } = await memory.get(id);
   * await memory.update(id, { metadata: { ...metadata, seen: true } }, { ifVersion: version });
   * ```
   */
  update(
    id: string,
    request: UpdateRequest,
    options?: ConditionalOptions,
  ): ApiPromise<Replayable<Memory>> {
    return this.#call('update', { id, body: request }, options);
  }

  /**
   * Deletes a memory permanently. Errors: `NotFoundError`, `PreconditionFailedError` and the common
   * errors.
   *
   * ```ts
   * await memory.delete('mem_…');
   * ```
   */
  delete(id: string, options?: ConditionalOptions): ApiPromise<undefined> {
    return this.#call('delete', { id }, options);
  }

  /**
   * Permanently deletes all of a user's memories and returns how many there were. Errors: the
   * common errors; a user without memories is not an error.
   *
   * ```ts
   * const { deleted } = await memory.deleteAll({ userId: 'u-1' });
   * ```
   */
  deleteAll(query: DeleteAllQuery, options?: CallOptions): ApiPromise<Deleted> {
    return this.#call('deleteAll', { query }, options);
  }

  /**
   * Exports the memories of a user or of the whole project, in pages of up to 1,000, in the format
   * of `import`. To export the whole project, omit `userId`; a value of undefined or null is an
   * error. Errors: as for `list`.
   *
   * ```ts
   * for await (const one of memory.export({ userId: 'u-1' })) console.log(JSON.stringify(one));
   * ```
   */
  export(query?: ExportQuery, options?: CallOptions): PagePromise {
    return pagePromise(this.#call, 'export', query, options);
  }

  /**
   * Imports 1 to 1,000 memories in the format that `list` and `export` return. Ids, times, types
   * and statuses are kept; a memory whose id already exists is skipped. With a key that is bound to
   * a user, ids that the user does not have yet are replaced. An invalid item neither fails the
   * call nor affects the other items: check `failedCount` and `failed`. Errors: as for `save`.
   *
   * ```ts
   * const { items } = await memory.export({ userId: 'u-1' });
   * const { imported, skipped, failed } = await another.import({ items });
   * ```
   */
  import(request: ImportRequest, options?: CallOptions): ApiPromise<Imported> {
    return this.#call('import', { body: request }, options);
  }

  /**
   * Returns the processing status of an ingested memory. Errors: `NotFoundError` and the common
   * errors.
   *
   * ```ts
   * const { status, chunksComplete, chunksTotal } = await memory.status('mem_…');
   * ```
   */
  status(id: string, options?: CallOptions): ApiPromise<IngestStatus> {
    return this.#call('status', { id }, options);
  }

  /**
   * Returns the statuses of 1 to 1,000 memories, in request order; unknown ids are in
   * `notFound`. Errors: `InvalidRequestError` and the common errors.
   *
   * ```ts
   * const { items, notFound } = await memory.statusMany(['mem_…', 'mem_…']);
   * ```
   */
  statusMany(memoryIds: string[], options?: CallOptions): ApiPromise<IngestStatuses> {
    return this.#call('statusMany', { body: { memoryIds } }, options);
  }

  /**
   * Lists the users who have memories, ordered by id. `limit` is the page size, 1–100,
   * default 20. With the `order` `memories` or `bytes`, lists the largest users first: one page,
   * and no further ones. Errors: `InvalidRequestError` and the common errors.
   *
   * ```ts
   * for await (const { userId, memories } of memory.users()) console.log(userId, memories);
   * const { items } = await memory.users({ order: 'bytes', limit: 10 });
   * ```
   */
  users(query?: UsersQuery, options?: CallOptions): PagePromise<UserPage> {
    return pagePromise(this.#call, 'users', query, options);
  }

  /**
   * Lists the project's memories that are `processing` or have `failed`, newest first, with their
   * `attempts` and `errorMessage`. `limit` is the page size, 1–100, default 20. Errors:
   * `InvalidRequestError` and the common errors.
   *
   * ```ts
   * for await (const { id, errorMessage } of memory.tasks({ status: 'failed' })) { … }
   * ```
   */
  tasks(query: TasksQuery, options?: CallOptions): PagePromise<TaskPage> {
    return pagePromise(this.#call, 'tasks', query, options);
  }

  /**
   * Returns what the project holds: the number of users and memories, by type and by status, and
   * their size. The figures may be a minute old. Errors: the common errors.
   *
   * ```ts
   * const { memories, bytes, failed } = await memory.stats();
   * ```
   */
  stats(options?: CallOptions): ApiPromise<Stats> {
    return this.#call('stats', {}, options);
  }

  /**
   * Returns the properties of the API key. Errors: the common errors.
   *
   * ```ts
   * const { project, userId, readOnly } = await memory.key();
   * ```
   */
  key(options?: CallOptions): ApiPromise<ApiKey> {
    return this.#call('key', {}, options);
  }

  /**
   * Returns the service's health; no API key is required. A failing service (503) is a result, not
   * an error: check `status`. The call is retried only if the connection fails.
   *
   * ```ts
   * const { status, version, pending } = await memory.health();
   * ```
   */
  health(options?: CallOptions): ApiPromise<Health> {
    return this.#call('health', {}, options);
  }

  /**
   * Waits until an ingested memory is `complete`, and resolves with that status. `timeoutMs` limits
   * the whole wait; the default is 60,000. Transient errors, for example while the service
   * restarts, do not end the wait unless the service has never been reached. Errors:
   * `IngestFailedError` if processing failed, `WaitTimeoutError` if the time is up (nothing is
   * lost; wait again), and those of `status`.
   *
   * ```ts
   * await memory.waitUntilComplete(memoryId, { timeoutMs: 120_000, onStatus: console.log });
   * ```
   */
  waitUntilComplete(id: string, options: WaitOptions = {}): ApiPromise<IngestStatus> {
    return apiPromise(waitUntilComplete(this.#call, id, options));
  }
}
