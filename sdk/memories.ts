import { type ApiPromise, apiPromise } from './answer.ts';
import type { Call } from './call.ts';
import type { Memory, SavedMemory, SaveRequest, UpdateRequest } from './contract/memory.ts';
import type { ListQuery } from './contract/page.ts';
import type { IngestStatus } from './contract/status.ts';
import type { CallOptions } from './options.ts';
import { type PagePromise, pagePromise } from './pages.ts';
import { type WaitOptions, waitUntilComplete } from './poll.ts';

/** What can be done with the memories of a project. `MemoryClient` is one of these. */
export class Memories {
  readonly #call: Call;

  constructor(call: Call) {
    this.#call = call;
  }

  /**
   * Saves a text for a user; it is `complete` at once. `content` holds up to 65,536 characters,
   * `metadata` up to 16 KiB as JSON. Safe to repeat with the same `idempotencyKey`.
   *
   * Errors: `InvalidRequestError`, `PayloadTooLargeError`, and those of every call:
   * `AuthenticationError`, `RateLimitError`, `ServerError`, `ConnectionError`, `TimeoutError`,
   * `AbortError`.
   *
   * ```ts
   * const saved = await memory.save({ userId: 'u-1', content: 'Prefers dark mode' });
   * ```
   */
  save(request: SaveRequest, options?: CallOptions): ApiPromise<SavedMemory> {
    return this.#call('save', { body: request }, options);
  }

  /**
   * Lists a user's memories, newest first. `limit` is the size of a page, 1–100, default 20.
   * Errors: `InvalidRequestError` and those of every call.
   *
   * ```ts
   * const page = await memory.list({ userId: 'u-1', limit: 50 });   // page.items, page.nextCursor
   * for await (const one of memory.list({ userId: 'u-1' })) { … }   // all, fetched as needed
   * ```
   */
  list(query: ListQuery, options?: CallOptions): PagePromise {
    return pagePromise((cursor = query.cursor) =>
      this.#call('list', { query: { ...query, cursor } }, options),
    );
  }

  /**
   * One memory. Errors: `NotFoundError` and those of every call.
   *
   * ```ts
   * const { content, metadata } = await memory.get('mem_…');
   * ```
   */
  get(id: string, options?: CallOptions): ApiPromise<Memory> {
    return this.#call('get', { id }, options);
  }

  /**
   * Replaces the content, and the metadata too where it is given, each as a whole. Work that is
   * pending on the memory is dropped: it is `complete`. Errors: `NotFoundError` and as for `save`.
   *
   * ```ts
   * await memory.update('mem_…', { content: 'Prefers light mode' });
   * ```
   */
  update(id: string, request: UpdateRequest, options?: CallOptions): ApiPromise<Memory> {
    return this.#call('update', { id, body: request }, options);
  }

  /**
   * Deletes a memory for good. Errors: `NotFoundError` and those of every call.
   *
   * ```ts
   * await memory.delete('mem_…');
   * ```
   */
  delete(id: string, options?: CallOptions): ApiPromise<undefined> {
    return this.#call('delete', { id }, options);
  }

  /**
   * How far the work on an ingested memory is. Errors: `NotFoundError` and those of every call.
   *
   * ```ts
   * const { status, chunksComplete, chunksTotal } = await memory.status('mem_…');
   * ```
   */
  status(id: string, options?: CallOptions): ApiPromise<IngestStatus> {
    return this.#call('status', { id }, options);
  }

  /**
   * Waits until an ingested memory is `complete`, and resolves with that status. `timeoutMs` is
   * for the whole wait, default 60,000. Errors: `IngestFailedError` when the work failed,
   * `WaitTimeoutError` when the time is over (nothing is lost; wait again), and as for `status`.
   *
   * ```ts
   * await memory.waitUntilComplete(memoryId, { timeoutMs: 120_000, onStatus: console.log });
   * ```
   */
  waitUntilComplete(id: string, options: WaitOptions = {}): ApiPromise<IngestStatus> {
    return apiPromise(waitUntilComplete(this.#call, id, options));
  }
}
