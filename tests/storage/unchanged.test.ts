import { expect, test } from 'bun:test';
import { rowsOf } from '../support/rows.ts';
import { databases } from './databases.ts';
import { claim, complete, memory, newProject, record } from './fixtures.ts';

/* A write that changes nothing does not count as a change, which would update search indexes. */

const changeNumbers = 'SELECT user_id, last_change FROM users ORDER BY user_id';

test.each(databases)('%s: the change numbers of users stay the same', async (_, open) => {
  const opened = await open();
  const read = () => rowsOf(opened.url, changeNumbers);
  const project = await newProject(opened);
  const externalKey = { externalId: 'e', content: 'the same' };
  const saved = memory(externalKey);
  await project.save(saved);
  const records = ['v', 'w'].map((userId) => record({ ...externalKey, userId }));
  await project.accept(records);
  for (const task of await claim(opened.storage)) await complete(opened.storage, task);
  const before = await read();
  await project.save(memory(externalKey));
  await project.update(saved.id, { content: 'the same' });
  await project.ingest(record({ ...externalKey, userId: 'v' }));
  await project.accept(records);
  expect(await read()).toEqual(before);
  // Each user's records count separately.
  await project.accept([...records, record({ ...externalKey, userId: 'v', content: 'other' })]);
  const after = await read();
  expect(after[0]).toEqual(before[0]);
  expect(after[1]).not.toEqual(before[1]);
  expect(after[2]).toEqual(before[2]);
  await opened.dispose();
});
