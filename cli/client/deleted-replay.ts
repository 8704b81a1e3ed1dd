import type { MemoryClient } from '../../sdk/index.ts';
import { CliError } from '../errors.ts';
import type { Terminal } from '../terminal/terminal.ts';

/*
 * A request with a repeated idempotency key returns the original response, even if the memory has
 * since been deleted. The command must not report a memory that no longer exists.
 */

export function rejectDeletedReplay(answer: { id: string }, did: 'saved' | 'updated'): void {
  if ('deleted' in answer) throw deletedSince(answer.id, did);
}

/**
 * Checks that the memory exists. This is required for keys of the caller, because the response to
 * an ingest does not show whether it is a replay.
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
    `Nothing was ${did}: an earlier request with this idempotency key ${did} ${id}, which has since been deleted.`,
    'To create a new memory, use another --idempotency-key, or omit it.',
  );
}
