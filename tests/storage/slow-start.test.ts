import { expect, test } from 'bun:test';
import { openInFolder, saveOne } from './sqlite.ts';

test('a writer thread that takes seconds to start is not treated as hanging', async () => {
  const preload = ['slow-starting.ts'];
  await using opened = await openInFolder({ preload, hungAfterMs: 3_000 });
  expect((await saveOne(opened.storage)).response.status).toBe(201);
});
