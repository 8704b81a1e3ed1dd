import type { Storage } from './storage.ts';

/** The durable queue's part of the storage. */
export interface TaskQueue {
  /**
   * Claims up to `limit` waiting tasks for `leaseMs`, the longest due first, and counts the
   * attempt. Due is what was never tried, what waits until `now` or earlier, what waits until after
   * `horizon` (the clock was set back), and what is running under a lease that has ended. A task
   * that was tried before is claimed alone, so that one that ends the process cannot use up the
   * attempts of its neighbours.
   */
  claimTasks(claim: {
    owner: string;
    now: number;
    leaseMs: number;
    horizon: number;
    limit: number;
  }): Promise<Task[]>;

  /** Stores the results. False for each whose lease is no longer held: nothing of it is stored. */
  completeTasks(results: TaskResult[]): Promise<boolean[]>;

  /** Lets the task wait until `retryAt`, or ends it as failed for null. False without the lease. */
  failTask(
    failure: Lease & { now: number; retryAt: number | null; errorMessage: string },
  ): Promise<boolean>;

  /** Puts a claimed task that was not begun back as it was before the claim. */
  releaseTask(lease: Lease): Promise<boolean>;

  /**
   * Lets tasks that run without an owner wait again: those of owners that are gone and of leases
   * that have ended. Returns how many. The attempt stays counted.
   */
  recoverTasks(recovery: { owner: string; now: number }): Promise<number>;

  /** When the next waiting task is due, or null. */
  nextTaskAt(): Promise<number | null>;

  /** How many tasks wait or run, and when the oldest of them was accepted. */
  taskQueueState(): Promise<{ pending: number; oldestAcceptedAt: number | null }>;
}

/** What the worker of the queue needs; see tasks/worker.ts. */
export type TaskStorage = Omit<TaskQueue, 'taskQueueState'> & Pick<Storage, 'getMemory' | 'close'>;

/** The right to finish a task, until it is claimed again or the memory's text changes. */
export type Lease = { projectId: number; taskId: number; leaseToken: number };

/** What a task does. The first kind splits a memory's text and makes it searchable. */
export type TaskKind = 'index';

/** `attempt` counts from 1; `payload` is JSON text, as the kind wants it. */
export type Task = Lease & {
  kind: TaskKind;
  payload: string;
  attempt: number;
  /** The memory that it concerns, if any. */
  memoryId: string | null;
};

/** `chunks` is how many chunks the memory's text was split into. */
export type TaskResult = Lease & { now: number; chunks: number };
