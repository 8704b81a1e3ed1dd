import { splitChunks } from '../memory/chunks.ts';
import { countText } from '../threads/garbage.ts';
import type { Handler } from './handlers.ts';

/** Counts the chunks of the memory's text. Searches find the memory once the number is stored. */
export const indexMemory: Handler = async ({ projectId, memoryId }, storage) => {
  const memory = await storage.getMemory({ projectId, id: memoryId, now: 0 });
  // The memory and its task were deleted, so the storage will reject the result.
  if (memory === null) return { chunks: 0 };
  countText(memory.content.length);
  return { chunks: splitChunks(memory.content).length };
};
