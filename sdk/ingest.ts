import type { ApiPromise } from './api-promise.ts';
import type { Call } from './call.ts';
import type {
  Accepted,
  BatchAccepted,
  BatchRequest,
  ChatRequest,
  DocumentRequest,
  IngestRecord,
  SupportRequest,
} from './contract/ingest.ts';
import type { CallOptions, Replayable } from './options.ts';

/**
 * Ingests records. Each call resolves with the status `processing` once the record is durably
 * queued. Processing happens later: see `client.waitUntilComplete`. A record with the same
 * `userId`, `source` and `externalId` as an existing memory replaces that memory, which keeps its
 * id. If the memory is `complete` and already equal to the record, nothing changes, and the status
 * is `complete`. If a call is repeated with the same `idempotencyKey` after the memory has been
 * deleted, the result is `{ id, memoryId, deleted: true }`.
 */
export class Ingest {
  readonly #call: Call;

  constructor(call: Call) {
    this.#call = call;
  }

  /**
   * Ingests a support ticket. Errors: as for `client.save`.
   *
   * ```ts
   * const { memoryId } = await memory.ingest.support({
   *   userId: 'u-1', source: 'zendesk', externalId: '1182',
   *   data: { subject: 'Refund', comments: [{ author: 'user', content: 'Where is it?' }] },
   * });
   * ```
   */
  support(request: SupportRequest, options?: CallOptions): ApiPromise<Replayable<Accepted>> {
    return this.#call('ingest.support', { body: request }, options);
  }

  /**
   * Ingests text of any length, up to the server's body limit (5 MiB by default).
   *
   * ```ts
   * await memory.ingest.document({ userId: 'u-1', data: { text, title: 'Handbook' } });
   * ```
   */
  document(request: DocumentRequest, options?: CallOptions): ApiPromise<Replayable<Accepted>> {
    return this.#call('ingest.document', { body: request }, options);
  }

  /**
   * Ingests a conversation: messages in the format of the model APIs, or `data`, which can also
   * have a title, a summary, participants and tags.
   *
   * ```ts
   * const messages = [{ role: 'user', content: 'I moved to Bern' }];
   * await memory.ingest.chat({ userId: 'u-1', messages });
   * ```
   */
  chat(request: ChatRequest, options?: CallOptions): ApiPromise<Replayable<Accepted>> {
    return this.#call('ingest.chat', { body: request }, options);
  }

  /**
   * Ingests any record by its type: ticket, document, conversation, event or profile.
   *
   * ```ts
   * const data = { name: 'signed up', plan: 'pro' };
   * await memory.ingest.record({ type: 'event', userId: 'u-1', data });
   * ```
   */
  record(request: IngestRecord, options?: CallOptions): ApiPromise<Replayable<Accepted>> {
    return this.#call('ingest.record', { body: request }, options);
  }

  /**
   * Ingests 1 to 1,000 records in one request, under one idempotency key. An invalid record neither
   * fails the call nor affects the other records: check `failedCount` and `failed`.
   *
   * ```ts
   * const { failed } = await memory.ingest.batch({ items: records });
   * for (const { index, message } of failed) console.warn(index, message);
   * ```
   */
  batch(request: BatchRequest, options?: CallOptions): ApiPromise<BatchAccepted> {
    return this.#call('ingest.batch', { body: request }, options);
  }
}
