import type {
  Accepted,
  CallOptions,
  DocumentRequest,
  Memory,
  MemoryClient,
} from '../../sdk/index.ts';
import { rejectDeletedReplay } from '../client/service-errors.ts';
import { definedOnly } from '../options.ts';

/** The response. `unchanged` is true if the service already stores exactly this document. */
type Sent = { accepted: Accepted; unchanged: boolean };

/**
 * Sends one document. If the document has an external id and the caller gives no key, the key is
 * derived from the content, so an unchanged file is a replay and is not processed again.
 */
export async function sendDocument(
  client: MemoryClient,
  request: DocumentRequest,
  call: CallOptions,
): Promise<Sent> {
  const isDerived = request.externalId !== undefined && call.idempotencyKey === undefined;
  let idempotencyKey = isDerived ? keyOf(request) : undefined;
  while (idempotencyKey !== undefined) {
    const keyed = { ...call, idempotencyKey };
    const { data, response } = await client.ingest.document(request, keyed).withResponse();
    if (response.idempotencyStatus !== 'replayed') return sentOf(data);
    // A replay only proves that an earlier request stored the document. Since then, the memory may
    // have been replaced, changed or deleted, or its processing may have failed.
    const stored = await storedMemory(client, data.memoryId, call);
    if (stored && isSame(stored, request)) {
      // The replayed response has the status of the first response, `processing`.
      return { accepted: { ...data, status: stored.status }, unchanged: true };
    }
    // If the memory has been deleted, deriving the next key from its id lets the next run compute
    // the same key.
    idempotencyKey = stored ? undefined : keyOf([idempotencyKey, data.memoryId]);
  }
  const accepted = await client.ingest.document(request, call);
  rejectDeletedReplay(accepted, accepted.memoryId);
  return sentOf(accepted);
}

/** The service leaves a memory `complete` only if it is equal to the document. */
function sentOf(accepted: Accepted): Sent {
  return { accepted, unchanged: accepted.status === 'complete' };
}

function keyOf(value: unknown): string {
  return `document-${new Bun.CryptoHasher('sha256').update(JSON.stringify(value)).digest('hex')}`;
}

async function storedMemory(
  client: MemoryClient,
  memoryId: string,
  { signal }: CallOptions,
): Promise<Memory | undefined> {
  const { NotFoundError } = await import('../../sdk/index.ts');
  return client.get(memoryId, definedOnly({ signal })).catch((error) => {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  });
}

function isSame(stored: Memory, { data, metadata }: DocumentRequest): boolean {
  const { text, ...described } = data;
  if (stored.content !== text || stored.status === 'failed') return false;
  // Compares the values after a JSON round trip, which turns -0 into 0, for example.
  const sent: unknown = JSON.parse(JSON.stringify({ ...described, ...metadata }));
  return Bun.deepEquals(stored.metadata, sent);
}
