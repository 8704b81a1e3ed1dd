import { expect, test } from 'bun:test';
import { openStorage } from '../../server/storage/open.ts';
import { newWholeDatabase, postgresUrl, query } from '../support/postgres.ts';
import { memory, newProject } from './fixtures.ts';

test('users are listed in bytewise order in a database with a linguistic collation', async () => {
  const base = await postgresUrl();
  // A server at TEST_POSTGRES_URL may have been built without ICU.
  const icu = await query(base, `SELECT 1 FROM pg_collation WHERE collprovider = 'i' LIMIT 1`);
  if (icu.length === 0) return;
  const options = `TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en'`;
  const { url, drop } = await newWholeDatabase(options);
  try {
    const storage = await openStorage(url);
    const project = await newProject({ storage });
    for (const userId of ['b', 'ä', 'B', 'a']) await project.save(memory({ userId }));
    const { items } = await project.users();
    await storage.close();
    expect(items.map(({ userId }) => userId)).toEqual(['B', 'a', 'b', 'ä']);
  } finally {
    await drop();
  }
});
