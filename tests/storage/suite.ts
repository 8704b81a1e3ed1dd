import { afterAll, beforeAll, beforeEach } from 'bun:test';
import type { Storage } from '../../server/storage/storage.ts';
import type { Task } from '../../server/storage/types/tasks.ts';
import { drainTasks, newProject, type Opened, type OpenStorage, type Project } from './fixtures.ts';

/*
 * Helpers that the parts of the conformance suite share: the lifecycle of a storage across the
 * tests of a `describe`, and the operations that end a task without a result.
 */

/**
 * Opens one storage for all tests of a `describe` and closes it after the last test. Before each
 * test, empties the queue and passes the storage and a new project to `use`.
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
 * Returns the operations that end a task without a result. Each resolves to whether the task's
 * lease was still held.
 */
export function taskEnds(storageNow: () => Storage) {
  return {
    /** If `retryAt` is null, the task is not retried. */
    fail: (task: Task, retryAt: number | null, now = 2_000) => {
      const failure = { now, retryAt, errorMessage: 'it failed' };
      return storageNow().failTask({ ...task, ...failure });
    },
    release: (task: Task) => storageNow().releaseTask(task),
  };
}
