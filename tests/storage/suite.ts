import { afterAll, beforeAll, beforeEach } from 'bun:test';
import type { Task } from '../../server/storage/types/tasks.ts';
import {
  claim,
  complete,
  drainTasks,
  imported,
  newProject,
  type Opened,
  type OpenStorage,
  type Project,
} from './fixtures.ts';

/*
 * What the parts of the conformance suite share: the lifecycle of a storage across the tests of a
 * `describe`, values, and the operations that end tasks.
 */

export const externalKey = { source: 's', externalId: 'e' };

/** Memories that were created one after the other, for an import. */
export const many = (count: number, userId = 'u') =>
  Array.from({ length: count }, (_, n) => imported({ userId, createdAt: n }));

export let opened: Opened;
export let project: Project;

/**
 * Opens one storage for all tests of a `describe` and closes it after the last test. Before each
 * test, empties the queue and creates a project. Both are exported as `opened` and `project`.
 */
export function withStorage(open: () => ReturnType<OpenStorage>): void {
  beforeAll(async () => {
    opened = await open();
  });
  beforeEach(async () => {
    await drainTasks(opened);
    project = await newProject(opened);
  });
  afterAll(() => opened.dispose());
}

/** If `retryAt` is null, the task is not retried. Resolves to whether the lease was still held. */
export function fail(task: Task, retryAt: number | null, now = 2_000): Promise<boolean> {
  return opened.storage.failTask({ ...task, now, retryAt, errorMessage: 'it failed' });
}

/** Resolves to whether the lease was still held. */
export function release(task: Task): Promise<boolean> {
  return opened.storage.releaseTask(task);
}

/** Completes the tasks that are due. */
export async function completeAll(): Promise<void> {
  for (const task of await claim(opened.storage)) await complete(opened.storage, task);
}
