import { splitChunks } from '../memory/chunks.ts';
import type { Handler } from './handlers.ts';

/**
 * After a text longer than this, garbage is collected immediately, because the garbage collector
 * does not account for memory outside its heap.
 */
const largeUnits = 1_000_000;

/** Counts the chunks of the memory's text. Searches find the memory once the number is stored. */
export const indexMemory: Handler = async ({ projectId, memoryId }, storage) => {
  const memory = await storage.getMemory({ projectId, id: memoryId ?? '', now: 0 });
  // The memory and its task were deleted, so the storage will reject the result.
  if (memory === null) return { chunks: 0 };
  const chunks = splitChunks(memory.content).length;
  if (memory.content.length > largeUnits) Bun.gc(true);
  return { chunks };
};
