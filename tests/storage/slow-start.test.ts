import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { openInFolder, saveOne } from './sqlite.ts';

test('a writer thread that takes seconds to start is not treated as hanging', async () => {
  await using opened = await openInFolder({
    preload: [join(import.meta.dir, 'slow-starting.ts')],
    hungAfterMs: 3_000,
  });
  expect((await saveOne(opened.storage)).response.status).toBe(201);
});
