import { expect, test } from 'bun:test';
import { copyRows } from '../../server/storage/copy/copy.ts';
import { openCopySide } from '../../server/storage/postgres/admin/copy.ts';
import { openPostgres } from '../../server/storage/postgres/open.ts';
import { openCopySide as openSqliteSide } from '../../server/storage/sqlite/admin/copy.ts';
import { newDatabase, query } from '../support/postgres.ts';
import { rejectionOf } from '../support/thrown.ts';
import { until } from '../support/until.ts';
import { claimOne, memory, newProject, record } from './fixtures.ts';
import { type OpenedFile, openInFolder } from './sqlite.ts';

/** Closes the storage, and opens both sides of a copy of it to a new PostgreSQL database. */
async function openSides(opened: OpenedFile) {
  await opened.storage.close();
  const { url, drop } = await newDatabase();
  const source = openSqliteSide(opened.path, { create: false });
  const target = await openCopySide(url, { create: true });
  return {
    url,
    source,
    target,
    async [Symbol.asyncDispose]() {
      source.close();
      target.close();
      await drop();
    },
  };
}

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

/** Retries, because the sessions of a closed storage may end a little later. */
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
  await using sides = await openSides(opened);
  await copyRows(sides.source, sides.target, async () => {});
  const inOrder = 'SELECT memory_id AS id FROM tasks ORDER BY run_at, place';
  const copied = await query(sides.url, inOrder);
  expect(copied.map(({ id }) => id)).toEqual(ids);
});

test('the progress of a resumed copy counts only the rows that remain', async () => {
  await using opened = await openInFolder();
  await (await newProject(opened)).save(memory());
  await using sides = await openSides(opened);
  const { source, target } = sides;
  const interrupted = copyRows(source, target, () => Promise.reject(new Error('interrupted')));
  expect((await rejectionOf(interrupted)).message).toBe('interrupted');
  const reports: [done: number, total: number][] = [];
  const copied = await copyRows(source, target, async (...report) => void reports.push(report));
  expect(copied).toBeGreaterThan(1);
  expect(reports.at(-1)).toEqual([copied, copied]);
});
