export interface TaskQueue {
  /**
   * Claims up to `limit` due tasks for `leaseMs`, in the order in which they became due, and
   * increments their attempt counts. A task is due if it has never been attempted, if its retry
   * time is at or before `now` or after `horizon` (because the clock was set back), or if it is
   * running with an expired lease. A task that has been attempted before is claimed alone, so that
   * a task that crashes the process cannot use up the attempts of other tasks.
   */
  claimTasks(claim: {
    owner: string;
    now: number;
    leaseMs: number;
    horizon: number;
    limit: number;
  }): Promise<Task[]>;

  /**
   * Returns the texts of the tasks' memories. Null for a memory that was deleted, and for a long
   * text unless there is only one task.
   */
  readTexts(tasks: readonly Lease[]): Promise<(string | null)[]>;

  /**
   * Stores the results, except those whose lease has been lost. Returns which results were stored.
   */
  completeTasks(results: TaskResult[]): Promise<boolean[]>;

  /**
   * Schedules a retry, or fails the task if `retryAt` is null. Returns false if the lease has been
   * lost.
   */
  failTask(
    failure: Lease & { now: number; retryAt: number | null; errorMessage: string },
  ): Promise<boolean>;

  /**
   * Undoes the claim of a task that has not been started. Returns false if the lease has been lost.
   */
  releaseTask(lease: Lease): Promise<boolean>;

  /**
   * Requeues running tasks whose owner has exited or whose lease has expired. The attempt still
   * counts. Returns the number of requeued tasks.
   */
  recoverTasks(recovery: { owner: string; now: number }): Promise<number>;

  /** Returns when the next waiting task is due, or null if no task is waiting. */
  nextTaskAt(): Promise<number | null>;

  /**
   * Returns the number of waiting and running tasks, how many of them are running, when the oldest
   * of them was accepted, and the number of failed tasks.
   */
  taskQueueState(): Promise<QueueState>;
}

export type QueueState = {
  pending: number;
  running: number;
  oldestAcceptedAt: number | null;
  failed: number;
};

/** The right to complete a task. It ends when the task is claimed again or the memory changes. */
export type Lease = {
  projectId: number;
  userId: string;
  memoryId: string;
  kind: TaskKind;
  leaseToken: number;
};

/** The kinds of tasks. `index` splits a memory's text and makes it searchable. */
export type TaskKind = 'index';

/** `attempt` counts from 1. */
export type Task = Lease & { attempt: number };

export type TaskResult = Lease & { now: number; chunks: number };
