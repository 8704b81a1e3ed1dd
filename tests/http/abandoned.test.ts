import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { slowMs, slowsThread } from '../storage/faulty-threads.ts';
import { withServer } from '../support/server.ts';

const server = await withServer({}, [join(import.meta.dir, '../storage/faulty-threads.ts')]);

test('searches from disconnected clients are not executed', async () => {
  const userId = 'u';
  const slow = { userId, query: slowsThread };
  const gone = new AbortController();
  const count = 80;
  const first = server.client.search(slow);
  const abandoned = Array.from({ length: count }, () =>
    server.client.search(slow, { signal: gone.signal }),
  );
  // When the first search returns, the other searches have arrived and are queued.
  await first;
  gone.abort();
  const begun = performance.now();
  await Promise.allSettled(abandoned);
  expect((await server.client.search({ userId, query: 'a' })).items).toEqual([]);
  // Executing all searches would take longer, because a project uses at most eight threads.
  expect(performance.now() - begun).toBeLessThan((count * slowMs) / 8);
});
