import type { Task, TaskKind, TaskResult, TaskStorage } from '../storage/task-storage.ts';
import { indexMemory } from './index-memory.ts';

/** Processes one kind of task. A thrown error fails the attempt. */
export type Handler = (
  task: Task,
  storage: Pick<TaskStorage, 'getMemory'>,
) => Promise<Pick<TaskResult, 'chunks'>>;

export type Handlers = Record<TaskKind, Handler>;

export const handlers: Handlers = { index: indexMemory };
