import type {
  Accepted,
  CallOptions,
  DocumentRequest,
  Memory,
  MemoryClient,
} from '../../sdk/index.ts';
import { definedOnly } from '../options.ts';

/** What the service answered. `unchanged`: it holds this very document already. */
export type Sent = { accepted: Accepted; unchanged: boolean };

/**
 * Sends one document. Its key is made from its content, so that a file that has not changed is a
 * replay and nothing is processed again.
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
    // The key after a deleted memory is made from it, for the next run to come to the same one.
    return sendKeyed(client, request, call, keyOf([idempotencyKey, data.memoryId]));
  }
  if (isSame(stored, request)) {
    // The answer is of the day it was first sent, when it was still processing.
    return { accepted: { ...data, status: stored.status }, unchanged: true };
  }
  return { accepted: await client.ingest.document(request, call), unchanged: false };
}

function keyOf(value: unknown): string {
  return `document-${new Bun.CryptoHasher('sha256').update(JSON.stringify(value)).digest('hex')}`;
}

/**
 * A replay says that it was stored once. Since then the file may have been ingested with another
 * text that was taken back, or the memory may have been changed or deleted, or have failed.
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
  // As it was sent: JSON has no -0, say.
  const sent: unknown = JSON.parse(JSON.stringify({ ...described, ...metadata }));
  return Bun.deepEquals(stored.metadata, sent);
}
