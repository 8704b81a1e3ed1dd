import { expect, test } from 'bun:test';
import { query } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { memory } from './command.ts';
import { freshDatabase } from './migrate-data.ts';

test('a keys command closes its connection, even if it rejects the database', async () => {
  await using own = await freshDatabase();
  // The service adds the id of the schema to the name of each session.
  const isClosed = async () => {
    const text = `SELECT 1 FROM pg_stat_activity WHERE application_name =
      (SELECT concat('memory admin ', oid) FROM pg_namespace WHERE nspname = $1)`;
    return (await query(await own.base(), text, [own.schema])).length === 0;
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
