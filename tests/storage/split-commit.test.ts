import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { slowsRows } from './faulty-threads.ts';
import { memory, newProject } from './fixtures.ts';
import { openInFolder } from './sqlite.ts';

/* A group of small writes that takes too long for one commit. */

test('a save that does not fit into a slow commit is stored by the next one', async () => {
  const preload = [join(import.meta.dir, 'faulty-threads.ts')];
  await using opened = await openInFolder({ preload });
  const project = await newProject(opened);
  const save = () => project.save(memory({ source: slowsRows }));
  const statuses = (await Promise.all([save(), save()])).map(({ response }) => response.status);
  expect(statuses).toEqual([201, 201]);
  expect(await project.list()).toHaveLength(2);
});
