import { expect, test } from 'bun:test';
import { availableParallelism } from 'node:os';
import { slowsThread } from './faulty-threads.ts';
import { newProject } from './fixtures.ts';
import { openInFolder } from './sqlite.ts';

test('a thousand searches of a project may wait; one more is rejected, but not those of others', async () => {
  await using opened = await openInFolder({ preload: ['faulty-threads.ts'] });
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

test('a search that has waited for ten seconds is rejected, but not a count of the queue', async () => {
  await using opened = await openInFolder({ preload: ['faulty-threads.ts'] });
  const projects = await Promise.all([1, 2, 3].map(() => newProject(opened)));
  // More searches than there are reader threads.
  const searches = projects.flatMap((project) =>
    Array.from({ length: 5 }, () => project.search(slowsThread)),
  );
  const ended = Promise.allSettled(searches);
  const count = opened.storage.taskQueueState();
  const clock = performance.now;
  performance.now = () => clock.call(performance) + 11_000;
  try {
    expect(await count).toMatchObject({ pending: 0 });
    const rejected = (await ended).filter(({ status }) => status === 'rejected');
    expect(rejected).not.toEqual([]);
    for (const one of rejected) expect(one).toMatchObject({ reason: { code: 'unavailable' } });
  } finally {
    performance.now = clock;
  }
});
