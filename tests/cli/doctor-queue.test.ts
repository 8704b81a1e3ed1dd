import { expect, test } from 'bun:test';
import { claim, complete, newProject, memory as storedMemory } from '../storage/fixtures.ts';
import { openInSchema } from '../storage/postgres.ts';
import { openInFolder } from '../storage/sqlite.ts';
import { rowsOf } from '../support/rows.ts';
import { doctor } from './command.ts';

test.each([
  ['SQLite', openInFolder, /^4 pending, the oldest for \d+ s$/],
  ['PostgreSQL', openInSchema, /^4 pending, the oldest for \d+ s, 2 with an expired lease$/],
])('doctor counts the pending and the failed tasks on %s', async (_, open, pending) => {
  await using opened = await open();
  const project = await newProject(opened);
  const now = Date.now();
  for (let n = 0; n < 6; n += 1) await project.acceptOne({}, now);
  await claim(opened.storage, { now, limit: 1, leaseMs: 60_000 });
  // Of four more, one is completed, one fails, and two keep a lease that ends at once.
  const [done, failed] = await claim(opened.storage, { now, limit: 4, leaseMs: 1 });
  if (done === undefined || failed === undefined) throw new Error('too few tasks were claimed');
  await complete(opened.storage, done, now);
  const failure = { ...failed, now, retryAt: null, errorMessage: 'it failed' };
  expect(await opened.storage.failTask(failure)).toBe(true);
  const { code, find } = await doctor(opened.url);
  expect(find('queue')).toMatchObject({ level: 'ok', found: expect.stringMatching(pending) });
  expect(find('failed records')).toMatchObject({ level: 'warning', found: '1' });
  expect(code).toBe(0);
});

test.each([
  [4, 'ok'],
  [5.5, 'warning'],
])('after %d minutes, doctor reports a pending record as %s', async (minutes, level) => {
  await using opened = await openInFolder();
  const project = await newProject(opened);
  await project.acceptOne({}, Date.now() - minutes * 60_000);
  const { find } = await doctor(opened.url);
  expect(find('queue')).toMatchObject({ level });
});

test('doctor warns about a database without keys and reports an empty queue', async () => {
  await using opened = await openInFolder();
  const { find } = await doctor(opened.url);
  const advice = expect.stringContaining('memory keys create');
  expect(find('keys')).toMatchObject({ level: 'warning', found: 'none', advice });
  expect(find('queue')).toEqual({ name: 'queue', level: 'ok', found: '0 pending' });
});

test.each([
  ['SQLite', openInFolder, "x''"],
  ['PostgreSQL', openInSchema, "''"],
])('doctor reports rows that contradict each other on %s', async (_, open, noBytes) => {
  await using opened = await open();
  const project = await newProject(opened);
  await project.save(storedMemory({ userId: 'ada' }));
  for (const userId of ['ben', 'cem', 'dan']) await project.acceptOne({ userId });
  const consistency = async () => {
    const { code, find } = await doctor(opened.url);
    return { code, ...find('consistency') };
  };
  // A part without memories, directly after the change of a memory.
  await rowsOf(
    opened.url,
    `INSERT INTO vector_parts SELECT project_id, user_id, 1, last_change, last_change + 1, 0,
      ${noBytes} FROM memories WHERE user_id = 'ada'`,
  );
  expect(await consistency()).toMatchObject({ code: 0, level: 'ok' });
  for (const text of [
    `UPDATE users SET bytes = bytes + 1 WHERE user_id = 'ada'`,
    `UPDATE users SET memories = 2 WHERE user_id = 'ben'`,
    `DELETE FROM memories WHERE user_id = 'cem'`,
    `UPDATE users SET memories = 0, bytes = 0 WHERE user_id = 'cem'`,
    `DELETE FROM users WHERE user_id = 'dan'`,
    `INSERT INTO snapshots (project_id, user_id, data) VALUES (1, 'eve', ${noBytes})`,
    `INSERT INTO models (model_id, name, digest, dims, mean, deviation, probe, is_present)
      VALUES (1, 'm', 'd', 8, 0, 1, '', 1)`,
    `INSERT INTO vector_parts VALUES (1, 'eve', 1, 0, 1, 1, ${noBytes})`,
  ]) {
    await rowsOf(opened.url, text);
  }
  expect(await consistency()).toMatchObject({
    code: 1,
    level: 'failure',
    found: 'contradictory rows: 4 users, 1 tasks, 1 snapshots, 1 parts',
  });
});
