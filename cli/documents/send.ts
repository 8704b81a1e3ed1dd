import { setTimeout } from 'node:timers/promises';
import type { Accepted, CallOptions, DocumentRequest, MemoryClient } from '../../sdk/index.ts';
import type { Io } from '../io.ts';
import { given } from '../options.ts';
import { tellWaits } from '../retries.ts';

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
  const keyed = { ...call, idempotencyKey: keyOf(request) };
  const { data, response } = await client.ingest.document(request, keyed).withResponse();
  const replayed = response.idempotencyStatus === 'replayed';
  if (!replayed) return { accepted: data, unchanged: false };
  if (await isStored(client, data.memoryId, request, call)) {
    return { accepted: data, unchanged: true };
  }
  return { accepted: await client.ingest.document(request, call), unchanged: false };
}

function keyOf(request: DocumentRequest): string {
  return `document-${new Bun.CryptoHasher('sha256').update(JSON.stringify(request)).digest('hex')}`;
}

/**
 * A replay says that it was stored once. Since then the file may have been ingested with another
 * text that was taken back, or the memory may have been changed or deleted, or have failed.
 */
async function isStored(
  client: MemoryClient,
  memoryId: string,
  { data, metadata }: DocumentRequest,
  { signal }: CallOptions,
): Promise<boolean> {
  const { NotFoundError } = await import('../../sdk/index.ts');
  try {
    const stored = await client.get(memoryId, given({ signal }));
    const { text, ...described } = data;
    const isSame = stored.content === text && stored.status !== 'failed';
    return isSame && Bun.deepEquals(stored.metadata, { ...described, ...metadata });
  } catch (error) {
    if (error instanceof NotFoundError) return false;
    throw error;
  }
}

const busyMs = 5_000;

/** Sends again and again while the service has enough for now; a folder is in no hurry. */
export function patient(io: Io) {
  const tell = tellWaits(io);
  return async function send<Result>(attempt: () => Promise<Result>): Promise<Result> {
    const { RateLimitError } = await import('../../sdk/index.ts');
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof RateLimitError)) throw error;
      const retryInMs = error.retryAfterMs ?? busyMs;
      tell({ status: error.status, retryInMs });
      await setTimeout(retryInMs, undefined, { signal: io.interrupted });
      return send(attempt);
    }
  };
}
