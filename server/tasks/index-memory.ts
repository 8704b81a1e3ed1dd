import { splitChunks } from '../memory/chunks.ts';
import type { Storage } from '../storage/storage.ts';
import type { Task, TaskResult } from '../storage/task-storage.ts';
import { countText } from '../threads/garbage.ts';

/** Counts the chunks of the memory's text. Searches find the memory once the number is stored. */
export async function indexMemory(
  { projectId, memoryId }: Task,
  storage: Pick<Storage, 'getMemory'>,
): Promise<Pick<TaskResult, 'chunks'>> {
  const memory = await storage.getMemory({ projectId, id: memoryId, now: 0 });
  // The memory and its task were deleted, so the storage will reject the result.
  if (memory === null) return { chunks: 0 };
  countText(memory.content.length);
  return { chunks: splitChunks(memory.content).length };
}
