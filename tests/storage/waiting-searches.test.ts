import { expect, test } from 'bun:test';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { slowsThread } from './faulty-threads.ts';
import { newProject } from './fixtures.ts';
import { openInFolder } from './sqlite.ts';

test('a thousand searches of a project may wait; one more is rejected, but not those of others', async () => {
  const preload = [join(import.meta.dir, 'faulty-threads.ts')];
  await using opened = await openInFolder({ preload });
  const [project, other] = [await newProject(opened), await newProject(opened)];
  // A project may use one reader thread for each core, but at most eight.
  const running = Math.min(8, availableParallelism());
  const slow = Array.from({ length: running }, () => project.search(slowsThread));
  const givenUp = new AbortController();
  const search = () => project.search('kept', {}, givenUp.signal);
  const searches = Promise.allSettled(Array.from({ length: 1_001 }, search));
  expect(await other.search('kept')).toEqual([]);
  // An aborted search that is still waiting is answered without a thread.
  givenUp.abort();
  const rejected = (await searches).filter(({ status }) => status === 'rejected');
  await Promise.all(slow);
  expect(rejected).toMatchObject([{ reason: { code: 'unavailable', retryAfterSeconds: 5 } }]);
});
