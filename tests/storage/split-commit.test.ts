import { expect, test } from 'bun:test';
import { readSeries } from '../../server/metrics/counts.ts';
import { slowsRows } from './faulty-threads.ts';
import { memory, newProject } from './fixtures.ts';
import { openInFolder } from './sqlite.ts';

/* How small writes share commits. */

test('a save that does not fit into a slow commit is stored by the next one', async () => {
  await using opened = await openInFolder({ preload: ['faulty-threads.ts'] });
  const project = await newProject(opened);
  const save = () => project.save(memory({ source: slowsRows }));
  const statuses = (await Promise.all([save(), save()])).map(({ response }) => response.status);
  expect(statuses).toEqual([201, 201]);
  expect(await project.list()).toHaveLength(2);
});

test('saves that arrive together share a commit', async () => {
  await using opened = await openInFolder();
  const project = await newProject(opened);
  /** The writes are also counted by size, and their sum is the last number. */
  const commits = () => {
    const sizes = readSeries('memory_commit_writes')[0]?.counts.slice(0, -1) ?? [];
    return sizes.reduce((sum, count) => sum + count, 0);
  };
  const before = commits();
  await Promise.all(Array.from({ length: 20 }, () => project.save(memory())));
  expect(commits() - before).toBeLessThan(10);
});

test('a save does not share a commit with the uses of many keys', async () => {
  await using opened = await openInFolder();
  const project = await newProject(opened);
  const uses = Array.from({ length: 1_000 }, (_, n) => ({ id: `key-${n}`, at: 1_000 }));
  const stored: string[] = [];
  await Promise.all([
    opened.storage.touchKeys(uses).then(() => stored.push('the uses')),
    project.save(memory()).then(() => stored.push('the save')),
  ]);
  expect(stored).toEqual(['the save', 'the uses']);
});
