import type { TaskKind } from '../storage/task-storage.ts';
import { indexMemory } from './index-memory.ts';

/** Processes one kind of task. A thrown error fails the attempt. */
export type Handler = typeof indexMemory;

export type Handlers = Record<TaskKind, Handler>;

export const handlers: Handlers = { index: indexMemory };
