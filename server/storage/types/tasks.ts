import type { UserRef } from './project.ts';

export type QueueState = {
  pending: number;
  running: number;
  oldestAcceptedAt: number | null;
  failed: number;
};

/** The right to complete a task. It ends when the task is claimed again or the memory changes. */
export type Lease = UserRef & { memoryId: string; kind: TaskKind; leaseToken: number };

/** The kinds of tasks. `index` splits a memory's text and makes it searchable. */
export type TaskKind = 'index';

/** `attempt` counts from 1. */
export type Task = Lease & { attempt: number };

/** The text of a task's memory, and its metadata as JSON. */
export type TaskText = { content: string; metadata: string };

export type TaskResult = Lease & { now: number; chunks: number };
