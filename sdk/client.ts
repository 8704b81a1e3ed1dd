import type { ApiPromise } from './api-promise.ts';
import { type Call, openCall } from './call.ts';
import type { Health } from './contract/status.ts';
import { Ingest } from './ingest.ts';
import { Memories } from './memories.ts';
import { type CallOptions, type ClientOptions, readSettings } from './options.ts';

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
export class MemoryClient extends Memories {
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
    const call = openCall(settings);
    super(call);
    this.baseUrl = settings.baseUrl;
    this.ingest = new Ingest(call);
    this.#call = call;
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
}
