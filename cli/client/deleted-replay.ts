import type { MemoryClient } from '../../sdk/index.ts';
import { CliError } from '../errors.ts';
import type { Terminal } from '../terminal/terminal.ts';

/*
 * A repeated key returns the original response even if the memory has been deleted since. The
 * command must not report a memory that no longer exists.
 */

export function rejectDeletedReplay(answer: { id: string }, did: 'saved' | 'updated'): void {
  if ('deleted' in answer) throw deletedSince(answer.id, did);
}

/**
 * The response to an ingest does not reveal a replay, so with a key of the caller's the memory is
 * looked up.
 */
export async function rejectDeletedIngest(
  term: Terminal,
  client: MemoryClient,
  memoryId: string,
): Promise<void> {
  const { NotFoundError } = await import('../../sdk/index.ts');
  await client.status(memoryId, { signal: term.interrupted }).catch((error) => {
    throw error instanceof NotFoundError ? deletedSince(memoryId, 'ingested') : error;
  });
}

function deletedSince(id: string, did: 'saved' | 'updated' | 'ingested'): CliError {
  return new CliError(
    'deleted_since',
    `Nothing was ${did}: an earlier request with this idempotency key ${did} ${id}, which was deleted.`,
    'To create a new memory, use another --idempotency-key, or omit it.',
  );
}
