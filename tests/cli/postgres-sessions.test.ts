import { expect, test } from 'bun:test';
import {
  newDatabase,
  newWholeDatabase,
  openTransaction,
  postgresUrl,
  query,
} from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { doctor, memory } from './command.ts';

test('a keys command closes its connection, even if it rejects the database', async () => {
  await using own = await newDatabase();
  // The service adds the id of the schema to the name of each session.
  const isClosed = async () => {
    const text = `SELECT 1 FROM pg_stat_activity WHERE application_name =
      (SELECT concat('memory admin ', oid) FROM pg_namespace WHERE nspname = current_schema())`;
    return (await query(own.url, text)).length === 0;
  };
  for (const [command, code] of [
    ['list', 1],
    ['create', 0],
    ['list', 0],
  ] as const) {
    const ran = await memory(['keys', command, '--database', own.url]);
    expect([command, ran.code]).toEqual([command, code]);
    await until(isClosed, { what: 'the end of the session' });
  }
});

test('doctor counts the sessions of other roles, and says if it does not see their transactions', async () => {
  const database = await newWholeDatabase();
  const role = `plain_${crypto.randomUUID().replaceAll('-', '')}`;
  await query(database.url, `CREATE ROLE ${role} LOGIN PASSWORD 'plain'`);
  const url = Object.assign(new URL(database.url), { username: role, password: 'plain' }).href;
  const ends: (() => Promise<void>)[] = [];
  while (ends.length < 10) ends.push(await openTransaction(database.url, 'SELECT 1'));
  const { find } = await doctor(url);
  expect(find('transactions')?.found).toMatch(/^the oldest of this role has been open for \d s$/);
  expect(Number.parseInt(find('connections')?.found ?? '', 10)).toBeGreaterThan(10);
  await query(database.url, `GRANT pg_read_all_stats TO ${role}`);
  const found = (await doctor(url)).find('transactions')?.found;
  expect(found).toMatch(/^the oldest has been open for \d+ s$/);
  for (const end of ends) await end();
  await database.drop();
  await query(await postgresUrl(), `DROP ROLE ${role}`);
});
