import { afterAll, beforeAll, beforeEach } from 'bun:test';
import type { Storage } from '../../server/storage/storage.ts';
import type { Task } from '../../server/storage/task-storage.ts';
import { drainTasks, newProject, type Opened, type OpenStorage, type Project } from './fixtures.ts';

/*
 * Shared by the parts of the conformance suite: the lifecycle of a storage across the tests of a
 * `describe`, and the ways in which a task ends without a result.
 */

/**
 * Opens one storage for all tests of a `describe` and closes it after the last. Before each test
 * the queue is empty, and `use` receives the storage and a new project.
 */
export function withStorage(
  open: () => ReturnType<OpenStorage>,
  use: (opened: Opened, project: Project) => void,
): void {
  let opened: Opened;
  beforeAll(async () => {
    opened = await open();
  });
  beforeEach(async () => {
    await drainTasks(opened);
    use(opened, await newProject(opened));
  });
  afterAll(() => opened.dispose());
}

/**
 * The ways in which a task ends without a result. Each resolves to whether its lease was still
 * held.
 */
export function taskEnds(storageNow: () => Storage) {
  return {
    /** Without `retryAt` the task is not retried. */
    fail: ({ projectId, taskId, leaseToken }: Task, retryAt: number | null, now = 2_000) => {
      const failure = { now, retryAt, errorMessage: 'it failed' };
      return storageNow().failTask({ projectId, taskId, leaseToken, ...failure });
    },
    release: ({ projectId, taskId, leaseToken }: Task) =>
      storageNow().releaseTask({ projectId, taskId, leaseToken }),
  };
}
