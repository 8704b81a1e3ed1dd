import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { rejectionOf } from '../support/thrown.ts';
import { imported, memory, newProject, record } from './fixtures.ts';
import { openInFolder } from './sqlite.ts';

/*
 * After some disk errors, SQLite rolls back the whole transaction, and would commit each of the
 * statements that follow by itself. A trigger rolls back in the same way.
 */

const trigger = `CREATE TRIGGER fault BEFORE INSERT ON memories WHEN new.content = 'fault'
  BEGIN SELECT RAISE(ROLLBACK, 'disk I/O error'); END`;
const contents = ['before', 'fault', 'after'];

test.each(['accept', 'import'] as const)('nothing of a failed %s is stored', async (how) => {
  await using opened = await openInFolder();
  const project = await newProject(opened);
  await project.save(memory({ content: 'stored' }));
  using db = new Database(opened.path);
  db.run(trigger);
  const stored = () =>
    ['memories', 'tasks', 'users'].map((name) => [...db.query(`SELECT * FROM ${name}`).iterate()]);
  const before = stored();
  const write =
    how === 'accept'
      ? project.accept(contents.map((content) => record({ content })))
      : project.import(contents.map((content) => imported({ content })));
  expect((await rejectionOf(write)).message).toBe('disk I/O error');
  expect(stored()).toEqual(before);
  await project.save(memory());
  expect((await project.page('u')).items).toHaveLength(2);
});
