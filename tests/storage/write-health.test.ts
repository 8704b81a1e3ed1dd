import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { statSync } from 'node:fs';
import { rejectionOf } from '../support/thrown.ts';
import { imported, memory, newProject, record } from './fixtures.ts';
import { inOtherProcess, openInFolder, saveOne, withSmallFiles } from './sqlite.ts';

/* Writes that fail because of the disk. */

/** A program that fills its disk page by page and prints the fault in the following second. */
const fillsDisk = `
  const storage = await openFile(process.env.DATABASE);
  await saveOne(storage, { content: 'x'.repeat(1_800_000) });
  const store = () => storage.maintain({ now: 0, elapsedMs: 1 }).then(() => true, () => false);
  while (await store()) {}
  const faults = [];
  for (let n = 0; n < 10; n += 1) {
    await Bun.sleep(100);
    faults.push((await storage.health()).fault);
  }
  console.log(JSON.stringify(faults));
  process.exit();`;

test.concurrent('a disk error is reported for as long as no write succeeds', async () => {
  await using opened = await openInFolder();
  await opened.storage.close();
  const child = inOtherProcess(fillsDisk, { DATABASE: opened.path }, withSmallFiles);
  const faults: string[] = JSON.parse(await child.stdout.text());
  expect(new Set(faults)).toEqual(new Set(['the disk reported an error']));
});

test.concurrent('an idle storage writes nothing to its log', async () => {
  await using opened = await openInFolder();
  await saveOne(opened.storage);
  const logBytes = () => statSync(`${opened.path}-wal`).size;
  const before = logBytes();
  // The writer thread checks the database file every 500 ms.
  await Bun.sleep(700);
  expect(logBytes()).toBe(before);
});

test('a write that fills the disk is rejected as unavailable if it shares a commit', async () => {
  await using opened = await openInFolder({ preload: ['small-disk.ts'] });
  const project = await newProject(opened);
  const small = project.save(memory()).then(
    () => 1,
    () => 0,
  );
  const error = await rejectionOf(project.save(memory({ content: 'x'.repeat(1_000_000) })));
  expect(error).toMatchObject({ code: 'unavailable' });
  expect(error.message).toBe('the disk is full; nothing was stored');
  expect(await project.list()).toHaveLength(await small);
});

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
