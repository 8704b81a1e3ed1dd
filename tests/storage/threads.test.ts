import { afterAll, expect, test } from 'bun:test';
import { renameSync, writeFileSync } from 'node:fs';
import { createThreads, defaultHungAfterMs } from '../../server/threads/start.ts';
import { temporaryFolder } from '../support/folder.ts';
import { rejectionOf } from '../support/thrown.ts';
import { until } from '../support/until.ts';
import {
  breaksThread,
  endsThread,
  failsCommit,
  hangsThread,
  slowsIndexing,
  slowsRanking,
  slowsRows,
} from './faulty-threads.ts';
import { imported, keyed, memory, newProject, record } from './fixtures.ts';
import { leapsClock } from './leaping-clock.ts';
import { openFile, openInFolder, saveOne } from './sqlite.ts';

/* What happens to pending and later calls when a storage thread ends or hangs. */

/** For tests of threads that hang. Calls of a silent thread fail after a third of this. */
const hungAfterMs = 6_000;
/** For tests of threads that are slow. On a busy machine, they are even slower. */
const slowHungAfterMs = 15_000;

/** Opens a storage for one test. The tests run concurrently, because a thread hangs for seconds. */
async function open(limitMs = defaultHungAfterMs) {
  const ends: string[] = [];
  const opened = await openInFolder({
    preload: ['faulty-threads.ts'],
    onFatal: (reason) => ends.push(reason),
    hungAfterMs: limitMs,
  });
  const project = await newProject(opened);
  await project.save(memory({ content: 'kept' }));
  return { opened, project, ends, [Symbol.asyncDispose]: () => opened.dispose() };
}

/** One storage for the tests that leave it as it was. They run in turn. */
const shared = open();
afterAll(async () => (await shared).opened.dispose());

async function fromShared() {
  const { opened } = await shared;
  const project = await newProject(opened);
  await project.save(memory({ content: 'kept' }));
  return { opened, project };
}

test.concurrent.each([
  [endsThread, 'the reader thread exited'],
  [breaksThread, 'the reader thread exited: a broken thread'],
])('%s: the search fails as unavailable, and the service ends', async (fault, reason) => {
  await using all = await open();
  const lost = await rejectionOf(all.project.search(fault));
  expect(lost).toMatchObject({ code: 'unavailable' });
  expect(all.ends).toEqual([reason]);
});

test.concurrent('a reader thread that cannot open the file fails its reads, and is not lost', async () => {
  await using all = await open();
  const { opened, project, ends } = all;
  renameSync(opened.path, `${opened.path}.moved`);
  expect(await rejectionOf(project.search('kept'))).toMatchObject({ code: 'unavailable' });
  renameSync(`${opened.path}.moved`, opened.path);
  expect(await project.search('kept')).toHaveLength(1);
  expect(ends).toEqual([]);
});

test.concurrent('while a reader thread hangs, other searches succeed, and then the service ends', async () => {
  await using all = await open(hungAfterMs);
  const { opened, project, ends } = all;
  const hung = rejectionOf(project.search(hangsThread));
  const other = await newProject(opened);
  expect(await until(() => other.search('kept').catch(() => null))).toEqual([]);
  expect(await hung).toMatchObject({ code: 'unavailable' });
  // On a busy machine, another reader thread may be silent for two seconds.
  const found = await until(() => project.search('kept').catch(() => null));
  expect(found).toHaveLength(1);
  await until(() => ends.length > 0, { what: 'the end' });
  expect(ends).toEqual(['the reader thread does not respond']);
});

test.concurrent('a slow read of many statuses is not mistaken for a hanging thread', async () => {
  await using all = await open(slowHungAfterMs);
  const { project } = all;
  const given = memory();
  await project.save(given);
  const missing = Array.from({ length: 40 }, (_, n) => `${slowsRows} ${n}`);
  const statuses = await project.statuses([...missing, given.id]);
  expect(statuses.map(({ memoryId }) => memoryId)).toEqual([given.id]);
});

test.concurrent('a slow large write is not mistaken for a hanging thread', async () => {
  await using all = await open(slowHungAfterMs);
  const { project } = all;
  const slow = Array.from({ length: 40 }, (_, n) => ({
    source: 's',
    externalId: `${slowsRows} ${n}`,
  }));
  expect(await project.accept(slow.map((one) => record(one)))).toHaveLength(40);
  await project.import(slow.map((_, n) => imported({ id: `mem_${n}`, source: slowsRows })));
});

test.concurrent('an index that takes long to build is completed, and is not searched before that', async () => {
  await using opened = await openInFolder({ preload: ['leaping-clock.ts'] });
  const project = await newProject(opened);
  for (let n = 0; n < 20; n += 1) await project.save(memory({ content: `${leapsClock} ${n}` }));
  const search = () => project.search(leapsClock, { limit: 100 });
  expect(await rejectionOf(search())).toMatchObject({ code: 'unavailable' });
  const found = await until(() => search().catch(() => null), { what: 'the index' });
  expect(found).toHaveLength(20);
});

test.concurrent('a writer thread that ends has unknown outcomes, and the service ends', async () => {
  await using all = await open();
  const { opened, project, ends } = all;
  const given = memory();
  const idempotency = keyed('k');
  const lost = [
    project.save(memory({ userId: endsThread })),
    project.save(given, { idempotency }),
  ].map(rejectionOf);
  for (const error of await Promise.all(lost)) {
    expect(error).toMatchObject({ code: 'internal' });
    expect(error.message).toContain('retry with the same Idempotency-Key');
  }
  expect(ends).toEqual(['the writer thread exited']);
  const later = await rejectionOf(project.save(memory()));
  expect(later.message).toBe('the writer thread exited; nothing was stored');
  await opened.reopen();
  expect((await project.save(given, { idempotency })).response.status).toBe(201);
  expect(await project.list()).toHaveLength(2);
});

test.concurrent('while the writer thread hangs, writes fail, and then the service ends', async () => {
  await using all = await open(hungAfterMs);
  const { project, ends } = all;
  const hung = rejectionOf(project.save(memory({ userId: hangsThread })));
  const saves = Array.from({ length: 300 }, () => rejectionOf(project.save(memory())));
  const codes = (await Promise.all(saves)).map((error) => Reflect.get(error, 'code'));
  expect(await hung).toMatchObject({ code: 'internal' });
  expect(codes.filter((code) => code === 'unavailable').length).toBeGreaterThan(100);
  expect(await project.list()).toHaveLength(1);
  // On a busy machine, another reader thread may be silent for two seconds.
  const found = await until(() => project.search('kept').catch(() => null));
  expect(found).toHaveLength(1);
  await until(() => ends.length > 0, { what: 'the end' });
  expect(ends).toEqual(['the writer thread does not respond']);
});

test.concurrent('a document that takes seconds to index can be searched', async () => {
  await using all = await open(7_000);
  const { project } = all;
  // A reader announces before it indexes a text of more than 500,000 UTF-16 units.
  const content = `${slowsIndexing} ${'北'.repeat(500_000)} lantern`;
  await project.save(memory({ content }));
  const begun = performance.now();
  expect(await project.search('lantern')).toHaveLength(1);
  expect(performance.now() - begun).toBeGreaterThan(2_400);
});

// Not beside the others: it takes seconds of a core.
test('memories that take seconds to rank can be searched', async () => {
  await using all = await open(7_000);
  const { project } = all;
  // A reader announces before it searches an index of more than 16 MiB.
  const content = Array.from({ length: 270_000 }, (_, n) => n).join(' ');
  await project.save(memory({ content }));
  const begun = performance.now();
  expect(await project.search(`12345 ${slowsRanking}`)).toHaveLength(1);
  expect(performance.now() - begun).toBeGreaterThan(2_400);
});

test.concurrent('a writer thread that takes seconds to start is not treated as hanging', async () => {
  const preload = ['slow-starting.ts'];
  await using opened = await openInFolder({ preload, hungAfterMs: 3_000 });
  expect((await saveOne(opened.storage)).response.status).toBe(201);
});

test.concurrent('a database whose writer thread cannot start is not opened', async () => {
  using folder = temporaryFolder();
  const preload = [folder.file('ending.ts')];
  writeFileSync(folder.file('ending.ts'), 'process.exit(7);');
  const ended = Promise.withResolvers<string>();
  const threads = createThreads({ preload, onFatal: ended.resolve });
  const opening = openFile(folder.file('memory.db'), { threads });
  expect((await rejectionOf(opening)).message).toContain('the writer thread exited');
  expect(await ended.promise).toBe('the writer thread exited');
});

test('a status request that repeats an id reads the text of its memory once', async () => {
  const { project } = await fromShared();
  const given = imported({ content: 'one sentence. '.repeat(350_000) });
  await project.import([given]);
  const statuses = await project.statuses([...Array(1_000).fill(given.id), 'mem_none', given.id]);
  expect(statuses).toHaveLength(1_001);
  expect(new Set(statuses.map(({ memoryId }) => memoryId))).toEqual(new Set([given.id]));
});

test('an erasure that is repeated after a failed COMMIT deletes and counts every memory', async () => {
  const { project } = await fromShared();
  const save = () => project.save(memory({ userId: 'erased' }));
  // An erasure deletes 500 memories per transaction.
  await Promise.all(Array.from({ length: 600 }, save));
  const idempotency = keyed(failsCommit);
  const failed = await rejectionOf(project.erase('erased', { idempotency }));
  expect(failed).toMatchObject({ code: 'internal' });
  await save();
  const { response } = await project.erase('erased', { idempotency });
  expect(JSON.parse(response.body)).toMatchObject({ deleted: 601 });
  expect(await project.list('erased')).toEqual([]);
});
