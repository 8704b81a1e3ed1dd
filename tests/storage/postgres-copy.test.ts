import { expect, test } from 'bun:test';
import { copyRows } from '../../server/storage/copy/copy.ts';
import { openCopySide } from '../../server/storage/postgres/admin/copy.ts';
import { openPostgres } from '../../server/storage/postgres/open.ts';
import { openCopySide as openSqliteSide } from '../../server/storage/sqlite/admin/copy.ts';
import { newDatabase, query } from '../support/postgres.ts';
import { rejectionOf } from '../support/thrown.ts';
import { until } from '../support/until.ts';
import { claimOne, memory, newProject, record } from './fixtures.ts';
import { openInFolder } from './sqlite.ts';

test('a copy detects a server that starts during the copy, but ignores servers on other schemas', async () => {
  const [database, another] = [await newDatabase(), await newDatabase()];
  const elsewhere = await openPostgres(another.url);
  const side = await openCopySide(database.url, { create: true });
  const storage = await openPostgres(database.url);
  // Simulate a server that was killed: its lease on the cleanup has expired.
  await query(database.url, `UPDATE maintenance SET held_until = NULL WHERE name = 'turn'`);
  const message = 'a server is using the database';
  expect((await rejectionOf(side.assertUnused())).message).toContain(message);
  await storage.close();
  await side.assertUnused();
  side.close();
  await elsewhere.close();
  for (const { drop } of [database, another]) await drop();
});

/** Retries, because the sessions of a storage that was just closed may end only later. */
function openUnused(url: string) {
  const open = () => openCopySide(url, { create: false }).catch(() => null);
  return until(open, { what: 'the end of the sessions' });
}

test('a copy is rejected until the cleanup turn of a server without visible sessions ends', async () => {
  const { url, drop } = await newDatabase();
  await (await openPostgres(url)).close();
  const hold = (time: string) => {
    const held = `held_until = now() + interval '${time}'`;
    return query(url, `UPDATE maintenance SET ${held} WHERE name = 'turn'`);
  };
  await hold('1 hour');
  const { message } = await rejectionOf(openCopySide(url, { create: false }));
  expect(message).toMatch(/^a server is using the database.* wait 3[56]\d\d seconds\.$/);
  await hold('-1 second');
  (await openUnused(url)).close();
  await drop();
});

test('a running task is copied as waiting, without its interrupted attempt', async () => {
  const { url, drop } = await newDatabase();
  const storage = await openPostgres(url);
  const project = await newProject({ storage });
  await project.acceptOne();
  await claimOne(storage);
  await storage.close();
  const side = await openUnused(url);
  const { rows } = (await side.read('pending_tasks', null)) ?? { rows: [] };
  expect(rows).toMatchObject([{ state: 'waiting', attempts: 0 }]);
  side.close();
  await drop();
});

test('pending tasks of several batches keep their order in the queue', async () => {
  await using opened = await openInFolder();
  const project = await newProject(opened);
  // A batch of a copy has at most 512 rows.
  const ids = await project.accept(Array.from({ length: 600 }, () => record()));
  await opened.storage.close();
  const database = await newDatabase();
  const source = openSqliteSide(opened.path, { create: false });
  const target = await openCopySide(database.url, { create: true });
  await copyRows(source, target, async () => {});
  source.close();
  target.close();
  const inOrder = 'SELECT memory_id AS id FROM tasks ORDER BY run_at, place';
  const copied = await query(database.url, inOrder);
  await database.drop();
  expect(copied.map(({ id }) => id)).toEqual(ids);
});

test('the progress of a resumed copy counts only the rows that remain', async () => {
  await using opened = await openInFolder();
  await (await newProject(opened)).save(memory());
  await opened.storage.close();
  const database = await newDatabase();
  const source = openSqliteSide(opened.path, { create: false });
  const target = await openCopySide(database.url, { create: true });
  const interrupted = copyRows(source, target, () => Promise.reject(new Error('interrupted')));
  expect((await rejectionOf(interrupted)).message).toBe('interrupted');
  const reports: [done: number, total: number][] = [];
  const copied = await copyRows(source, target, async (...report) => void reports.push(report));
  source.close();
  target.close();
  await database.drop();
  expect(copied).toBeGreaterThan(1);
  expect(reports.at(-1)).toEqual([copied, copied]);
});
