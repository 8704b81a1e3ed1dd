import { splitChunks } from '../memory/chunks.ts';
import { announced } from '../threads/serve.ts';
import type { StoredStatus } from './storage.ts';

/**
 * `savedContent` is set if the memory has no task. The memory's chunks are then counted on request.
 */
export type StatusRow = StoredStatus & { userId: string; savedContent: string | null };

/** The error message of a memory that was imported with the status `failed`. */
export const failedBeforeImport = 'processing failed before the memory was imported';

/** Splitting a longer text (in UTF-16 units) may take a second on a busy machine. */
const largeUnits = 500_000;

export function statusOf({ userId: _, savedContent, ...status }: StatusRow): StoredStatus {
  if (savedContent === null) return status;
  const count = () => splitChunks(savedContent).length;
  const chunks = savedContent.length > largeUnits ? announced(count) : count();
  return { ...status, chunksComplete: chunks, chunksTotal: chunks };
}
