import { expect, spyOn, test } from 'bun:test';
import { newHeldIndex } from '../../server/storage/held-indexes.ts';
import { createIndexReads } from '../../server/storage/sqlite/reader/held-index.ts';
import { openForReading } from '../../server/storage/sqlite/settings.ts';
import { claim, complete, newProject, record } from './fixtures.ts';
import { openInFolder } from './sqlite.ts';

test("a user's first search indexes each ingested memory once", async () => {
  await using opened = await openInFolder();
  const project = await newProject(opened);
  const userId = 'ada';
  await project.accept([record({ userId }), record({ userId }), record({ userId })]);
  const [first, second] = await claim(opened.storage);
  if (first === undefined || second === undefined) throw new Error('fewer than two tasks are due');
  await complete(opened.storage, first);
  await complete(opened.storage, second);

  using db = openForReading(opened.path);
  const held = newHeldIndex();
  const put = spyOn(held.index, 'put');
  createIndexReads(db).catchUp(held, { projectId: project.id, userId }, null);
  expect(put).toHaveBeenCalledTimes(3);
  expect(held.index.size).toBe(3);
});
