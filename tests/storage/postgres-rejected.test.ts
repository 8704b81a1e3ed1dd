import { expect, test } from 'bun:test';
import { createTrigger, newWholeDatabase, query } from '../support/postgres.ts';
import { rejectionOf } from '../support/thrown.ts';
import { memory, newKey, newProject } from './fixtures.ts';
import { openInSchema } from './postgres.ts';

test('a save that the database rejects does not fail the other saves of its group', async () => {
  await using opened = await openInSchema();
  const project = await newProject(opened);
  await query(opened.url, `ALTER TABLE memories ADD CHECK (content <> 'rejected')`);
  const outcomes = await Promise.allSettled([
    project.save(memory({ content: 'rejected' })),
    project.save(memory({ userId: 'v' })),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  expect(await project.list('v')).toHaveLength(1);
});

test('a statement that the database rejects does not end the session', async () => {
  await using opened = await openInSchema({ database: await newWholeDatabase() });
  const project = await newProject(opened);
  await project.save(memory());
  await query(opened.url, `ALTER TABLE memories ADD CHECK (content <> 'rejected')`);
  const sessions = () =>
    query(
      opened.url,
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database()
         AND application_name = 'memory writer' ORDER BY pid`,
    );
  const before = await sessions();
  await rejectionOf(project.save(memory({ content: 'rejected' })));
  await project.save(memory());
  expect(before.length).toBeGreaterThan(0);
  // Further sessions may still have been starting.
  expect(await sessions()).toEqual(expect.arrayContaining(before));
});

test.each([
  ["the database server's disk is full", '53100'],
  ['part of the database cannot be reached', '08006'],
])('creating a key stores nothing if %s', async (fault, code) => {
  await using opened = await openInSchema();
  const raise = `RAISE 'failed' USING ERRCODE = '${code}';`;
  await createTrigger(opened.url, 'BEFORE INSERT ON api_keys', raise);
  const failed = opened.storage.createKey(newKey({ id: 'key_1' }));
  const message = `${fault}; nothing was stored`;
  expect(await rejectionOf(failed)).toMatchObject({ code: 'unavailable', message });
});

test('an update that fails because the disk is full makes the storage report a fault', async () => {
  await using opened = await openInSchema();
  const project = await newProject(opened);
  const given = memory();
  await project.save(given);
  const raise = `RAISE 'failed' USING ERRCODE = '53100';`;
  await createTrigger(opened.url, 'BEFORE UPDATE ON memories', raise);
  const failed = await rejectionOf(project.update(given.id, { content: 'newer' }));
  const message = "the database server's disk is full";
  expect(failed).toMatchObject({ code: 'unavailable', message: `${message}; nothing was stored` });
  expect((await opened.storage.health()).fault).toBe(message);
});
