import { splitChunks } from '../memory/chunks.ts';
import type { Handler } from './handlers.ts';

/**
 * Texts above this length are freed immediately, because the garbage collector does not count texts
 * outside of its heap.
 */
const largeUnits = 1_000_000;

/**
 * Counts the chunks of the memory's text. Once their number is stored, searches find the memory and
 * split its text in the same way.
 */
export const indexMemory: Handler = async ({ projectId, memoryId }, storage) => {
  const memory = await storage.getMemory({ projectId, id: memoryId ?? '', now: 0 });
  // The memory and its task were deleted, so the storage will reject the result.
  if (memory === null) return { chunks: 0 };
  const chunks = splitChunks(memory.content).length;
  if (memory.content.length > largeUnits) Bun.gc(true);
  return { chunks };
};
