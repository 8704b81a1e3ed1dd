import { chunksOf } from '../memory/chunks.ts';
import type { TaskStorage } from '../storage/storage.ts';
import type { Task, TaskKind, TaskResult, TaskText } from '../storage/types/tasks.ts';
import { countText } from '../threads/garbage.ts';

/** `text` is null if the memory was deleted. The storage will then reject the result. */
type Work = { task: Task; text: TaskText | null; storage: TaskStorage };

/** Processes one kind of task. A thrown error fails the attempt. */
export type Handler = typeof indexMemory;

export type Handlers = Record<TaskKind, Handler>;

/** Counts the chunks of the memory's text. Searches find the memory once the number is stored. */
export async function indexMemory({ text }: Work): Promise<Pick<TaskResult, 'chunks'>> {
  if (text === null) return { chunks: 0 };
  const { content, metadata } = text;
  countText(content.length);
  return { chunks: chunksOf(content, metadata).length };
}

export const handlers: Handlers = { index: indexMemory };
