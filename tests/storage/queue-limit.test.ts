import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { advancesClock } from './advancing-clock.ts';
import { drainTasks, memory, newProject, record, smallQueueRecords } from './fixtures.ts';
import { openInFolder } from './sqlite.ts';

test('a full queue is counted again after a pause, and then accepts records', async () => {
  const preload = ['small-queue.ts', 'advancing-clock.ts'];
  await using opened = await openInFolder({
    preload: preload.map((name) => join(import.meta.dir, name)),
  });
  const project = await newProject(opened);
  await project.accept(Array.from({ length: smallQueueRecords }, () => record()));
  await drainTasks(opened);
  await project.save(memory({ userId: advancesClock }));
  expect(await project.accept([record()])).toHaveLength(1);
});
