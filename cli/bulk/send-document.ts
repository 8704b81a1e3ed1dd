import type {
  Accepted,
  CallOptions,
  DocumentRequest,
  Memory,
  MemoryClient,
} from '../../sdk/index.ts';
import { definedOnly } from '../options.ts';

/** The response. `unchanged` is true if the service already stores exactly this document. */
export type Sent = { accepted: Accepted; unchanged: boolean };

/**
 * Sends one document. If the document has an external id and the caller gives no key, the key is
 * derived from the content, so an unchanged file is a replay and is not processed again.
 */
export async function sendDocument(
  client: MemoryClient,
  request: DocumentRequest,
  call: CallOptions,
): Promise<Sent> {
  if (request.externalId === undefined || call.idempotencyKey !== undefined) {
    return { accepted: await client.ingest.document(request, call), unchanged: false };
  }
  return sendKeyed(client, request, call, keyOf(request));
}

async function sendKeyed(
  client: MemoryClient,
  request: DocumentRequest,
  call: CallOptions,
  idempotencyKey: string,
): Promise<Sent> {
  const keyed = { ...call, idempotencyKey };
  const { data, response } = await client.ingest.document(request, keyed).withResponse();
  if (response.idempotencyStatus !== 'replayed') return { accepted: data, unchanged: false };
  const stored = await readBack(client, data.memoryId, call);
  if (stored === undefined) {
    // The memory has been deleted. Deriving the next key from its id lets the next run compute the
    // same key.
    return sendKeyed(client, request, call, keyOf([idempotencyKey, data.memoryId]));
  }
  if (isSame(stored, request)) {
    // The replayed response has the status of the first response, `processing`.
    return { accepted: { ...data, status: stored.status }, unchanged: true };
  }
  return { accepted: await client.ingest.document(request, call), unchanged: false };
}

function keyOf(value: unknown): string {
  return `document-${new Bun.CryptoHasher('sha256').update(JSON.stringify(value)).digest('hex')}`;
}

/**
 * Reads the stored memory, because a replay only proves that the document was stored once. Since
 * then, the memory may have been replaced, changed or deleted, or its processing may have failed.
 */
async function readBack(
  client: MemoryClient,
  memoryId: string,
  { signal }: CallOptions,
): Promise<Memory | undefined> {
  const { NotFoundError } = await import('../../sdk/index.ts');
  try {
    return await client.get(memoryId, definedOnly({ signal }));
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}

function isSame(stored: Memory, { data, metadata }: DocumentRequest): boolean {
  const { text, ...described } = data;
  if (stored.content !== text || stored.status === 'failed') return false;
  // Compares the values after a JSON round trip, which turns -0 into 0, for example.
  const sent: unknown = JSON.parse(JSON.stringify({ ...described, ...metadata }));
  return Bun.deepEquals(stored.metadata, sent);
}
