import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { advancesClock } from './advancing-clock.ts';
import { drainTasks, memory, newProject, record, smallQueueRecords } from './fixtures.ts';
import { openInFolder } from './sqlite.ts';

const preload = ['small-queue.ts', 'advancing-clock.ts'].map((name) => join(import.meta.dir, name));

test('a full queue is counted again after a pause, and then accepts records', async () => {
  await using opened = await openInFolder({ preload });
  const project = await newProject(opened);
  await project.accept(Array.from({ length: smallQueueRecords }, () => record()));
  await drainTasks(opened);
  await project.save(memory({ userId: advancesClock }));
  expect(await project.accept([record()])).toHaveLength(1);
});

test('records that change nothing take no place in the queue', async () => {
  await using opened = await openInFolder({ preload });
  const project = await newProject(opened);
  const records = Array.from({ length: smallQueueRecords }, (_, at) => {
    return record({ externalId: `${at}` });
  });
  await project.accept(records);
  await drainTasks(opened);
  await project.save(memory({ userId: advancesClock }));
  await project.accept(records);
  expect(await project.accept([record()])).toHaveLength(1);
});
