import { afterAll, beforeAll, expect, test } from 'bun:test';
import { migrate } from '../../server/admin.ts';
import { openCopySides } from '../../server/storage/open.ts';
import { newDatabase, type TestDatabase } from '../support/postgres.ts';
import { record } from './fixtures.ts';
import { openInFolder } from './sqlite.ts';

/* Batches of large memories have few rows, so that a copy uses little RAM. */

const megabytes = (size: number) => 'x'.repeat(size * 1024 * 1024);
const sizes = [1, 2, 3, 3, 9, 1];
let database: TestDatabase;
let report: Awaited<ReturnType<typeof migrate>>;
let sides: { [name in 'sqlite' | 'postgres']: Awaited<ReturnType<typeof openCopySides>>[number] };
let dispose: () => Promise<void>;

beforeAll(async () => {
  database = await newDatabase();
  const opened = await openInFolder();
  const projectId = await opened.storage.ensureProject('p');
  for (const [n, size] of sizes.entries()) {
    const records = [record({ id: `mem_${n}`, content: megabytes(size) })];
    const write = { projectId, at: n, idempotency: null, batch: null };
    await opened.storage.acceptRecords({ ...write, records });
  }
  await opened.storage.close();
  const [file, { url }] = [`sqlite:${opened.path}`, database];
  const silent = { onCopied: async () => {}, onCompared: async () => {} };
  report = await migrate(file, url, { copies: true, ...silent });
  const [sqlite, postgres] = await openCopySides(file, url, { create: false });
  sides = { sqlite, postgres };
  dispose = opened.dispose;
});
afterAll(async () => {
  sides.sqlite.close();
  sides.postgres.close();
  await dispose();
  await database.drop();
});

test.each(['sqlite', 'postgres'] as const)('a batch of %s has at most 4 MB', async (name) => {
  const batches: string[][] = [];
  let batch = await sides[name].read('memories', null);
  while (batch !== null) {
    batches.push(batch.rows.map(({ id }) => String(id)));
    batch = await sides[name].read('memories', batch.position);
  }
  const ids = sizes.map((_, n) => `mem_${n}`);
  if (name === 'sqlite') {
    const [a, b, c, d, e, f] = ids;
    expect<(string | undefined)[][]>(batches).toEqual([[a, b], [c], [d], [e], [f]]);
  }
  expect(batches.flat().sort()).toEqual(ids);
  for (const rows of batches) {
    const bytes = rows.reduce((sum, id) => sum + (sizes[Number(id.slice(4))] ?? 0), 0);
    expect(rows.length === 1 || bytes <= 4).toBe(true);
  }
});

test('the copy is equal to the source', () => {
  const { items } = report;
  expect(items.filter(({ isEqual }) => !isEqual)).toEqual([]);
  expect(items.find(({ table }) => table === 'memories')?.target.rows).toBe(sizes.length);
});
