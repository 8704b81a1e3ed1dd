import { afterAll, expect, test } from 'bun:test';
import { availableParallelism } from 'node:os';
import { readSeries } from '../../server/metrics/counts.ts';
import { slowMs, slowsRows, slowsThread } from './faulty-threads.ts';
import { imported, memory, newProject, type Project, record } from './fixtures.ts';
import { openInFolder } from './sqlite.ts';

/* How projects share the threads, and small writes the commits. */

const opened = await openInFolder({ preload: ['faulty-threads.ts'] });
afterAll(() => opened.dispose());

/** Returns two projects, the second of which has a memory. */
async function openProjects(): Promise<[Project, Project]> {
  const [project, other] = [await newProject(opened), await newProject(opened)];
  await other.save(memory({ content: 'kept' }));
  return [project, other];
}

test('a search does not wait for the many slow searches of another project', async () => {
  const [project, other] = await openProjects();
  let isBusy = true;
  const slow = Array.from({ length: 14 }, () => project.search(slowsThread));
  const busy = Promise.all(slow).finally(() => {
    isBusy = false;
  });
  expect(await other.search('kept')).toHaveLength(1);
  expect(isBusy).toBe(true);
  await busy;
});

test('while another project is active, a project leaves it a core', async () => {
  const [project, other] = await openProjects();
  const searches = Math.max(2, Math.min(8, availableParallelism()));
  const slow = () =>
    Promise.all(Array.from({ length: searches }, () => project.search(slowsThread)));
  await slow();
  await other.search('kept');
  const begun = performance.now();
  await slow();
  // One of them waited for another one.
  expect(performance.now() - begun).toBeGreaterThan(2 * slowMs - 1);
});

test('a project that reads too fast is paused while another project is active', async () => {
  const [project, other] = await openProjects();
  await project.import([imported({ content: `large ${'x'.repeat(8_000_000)}` })]);
  await other.search('kept');
  const clock = performance.now;
  const now = performance.now();
  // While the clock stands still, even a busy machine reads too fast.
  performance.now = () => now;
  let isPaused = true;
  let paused: Promise<unknown>;
  try {
    expect(await project.search('large')).toHaveLength(1);
    paused = project.search('small').finally(() => {
      isPaused = false;
    });
    for (let n = 0; n < 5; n += 1) expect(await other.search('kept')).toHaveLength(1);
    expect(isPaused).toBe(true);
  } finally {
    performance.now = clock;
  }
  expect(await paused).toEqual([]);
});

test('a save is stored before a large batch that was sent at the same time', async () => {
  const [project, other] = await openProjects();
  let isBatchDone = false;
  const batch = other.accept(Array.from({ length: 3_000 }, () => record())).then((ids) => {
    isBatchDone = true;
    return ids;
  });
  await project.save(memory());
  // Replies of one commit arrive together and would settle within a few microtasks.
  for (let n = 0; n < 20; n += 1) await Promise.resolve();
  expect(isBatchDone).toBe(false);
  expect(await batch).toHaveLength(3_000);
});

test('a save that does not fit into a slow commit is stored by the next one', async () => {
  const [project] = await openProjects();
  const save = () => project.save(memory({ source: slowsRows }));
  const statuses = (await Promise.all([save(), save()])).map(({ response }) => response.status);
  expect(statuses).toEqual([201, 201]);
  expect(await project.list()).toHaveLength(2);
});

test('saves that arrive together share a commit', async () => {
  const [project] = await openProjects();
  /** The writes are also counted by size, and their sum is the last number. */
  const commits = () => {
    const sizes = readSeries('memory_commit_writes')[0]?.counts.slice(0, -1) ?? [];
    return sizes.reduce((sum, count) => sum + count, 0);
  };
  const before = commits();
  await Promise.all(Array.from({ length: 20 }, () => project.save(memory())));
  expect(commits() - before).toBeLessThan(10);
});

test('a save does not share a commit with the uses of many keys', async () => {
  const [project] = await openProjects();
  const uses = Array.from({ length: 1_000 }, (_, n) => ({ id: `key-${n}`, at: 1_000 }));
  const stored: string[] = [];
  await Promise.all([
    opened.storage.touchKeys(uses).then(() => stored.push('the uses')),
    project.save(memory()).then(() => stored.push('the save')),
  ]);
  expect(stored).toEqual(['the save', 'the uses']);
});

test('a thousand searches of a project may wait; one more is rejected, but not those of others', async () => {
  await using own = await openInFolder({ preload: ['faulty-threads.ts'] });
  const [project, other] = [await newProject(own), await newProject(own)];
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
  await using own = await openInFolder({ preload: ['faulty-threads.ts'] });
  const projects = await Promise.all([1, 2, 3].map(() => newProject(own)));
  // More searches than there are reader threads.
  const searches = projects.flatMap((project) =>
    Array.from({ length: 5 }, () => project.search(slowsThread)),
  );
  const ended = Promise.allSettled(searches);
  const count = own.storage.taskQueueState();
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
