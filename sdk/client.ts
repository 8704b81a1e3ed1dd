import type { ApiPromise } from './api-promise.ts';
import { type Call, openCall } from './call.ts';
import type { Health } from './contract/status.ts';
import { Ingest } from './ingest.ts';
import { Memories } from './memories.ts';
import { type CallOptions, type ClientOptions, readSettings } from './options.ts';

/**
 * The client of a memory service. It keeps no connection and may be shared; creating one does no
 * I/O. Failed reads and writes are retried; every write gets an idempotency key for that.
 *
 * ```ts
 * const memory = new MemoryClient(); // MEMORY_API_KEY and MEMORY_BASE_URL, or { apiKey, baseUrl }
 * await memory.save({ userId: 'u-1', content: 'Prefers dark mode' });
 * ```
 */
export class MemoryClient extends Memories {
  /** Tickets, documents, conversations, events, profiles. */
  readonly ingest: Ingest;
  /** Where the service is, without a slash at the end. */
  readonly baseUrl: string;
  readonly #call: Call;

  /** Throws `InvalidRequestError` when an option cannot work. A missing key is found by a call. */
  constructor(options?: ClientOptions) {
    const settings = readSettings(options ?? {});
    const call = openCall(settings);
    super(call);
    this.baseUrl = settings.baseUrl;
    this.ingest = new Ingest(call);
    this.#call = call;
  }

  /**
   * Returns the service's health; no API key is required. A failing service (503) is a result, not
   * an error: check `status`. Retried only where there is no connection.
   *
   * ```ts
   * const { status, version, pending } = await memory.health();
   * ```
   */
  health(options?: CallOptions): ApiPromise<Health> {
    return this.#call('health', {}, options);
  }
}
