import { splitChunks } from '../memory/chunks.ts';
import type { Handler } from './handlers.ts';

/** The collector does not see what texts take outside of its heap: large ones are freed at once. */
const largeUnits = 1_000_000;

/**
 * Splits the memory's text into chunks. From the moment that their number is stored, searches find
 * the memory; they split the text in the same way when they read it.
 */
export const indexMemory: Handler = async ({ projectId, memoryId }, storage) => {
  const memory = await storage.getMemory({ projectId, id: memoryId ?? '', now: 0 });
  // It was deleted since, and its task with it: the result is refused.
  if (memory === null) return { chunks: 0 };
  const chunks = splitChunks(memory.content).length;
  if (memory.content.length > largeUnits) Bun.gc(false);
  return { chunks };
};
