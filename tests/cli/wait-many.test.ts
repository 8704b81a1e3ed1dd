import { expect, test } from 'bun:test';
import type { IngestStatuses } from '../../sdk/index.ts';
import { startTestServer } from '../support/server.ts';
import { events, expectRan, lines, memoryAt, withMemory } from './command.ts';
import { foldersFor } from './folder.ts';
import { forward, startService } from './service.ts';

const { server, memory } = await withMemory();

const batch = ['ingest', 'batch', '-', '--wait', '--json'];

/** Without the progress that a slow machine has time for. */
const said = (stderr: string) => stderr.replace(/^[\d,]+ records .*\n/gm, '');

/** Starts a proxy that reports a memory as processing if `isStuck` returns true for its id. */
function busyServer(isStuck: (memoryId: string) => boolean | Promise<boolean>) {
  const looks: string[] = [];
  const service = startService(async (request) => {
    const { pathname } = new URL(request.url);
    const [, memoryId = ''] = /memories\/(\w+)\/status$/.exec(pathname) ?? [];
    const isLook = pathname.endsWith('/status');
    if (isLook) looks.push(memoryId);
    const answer = await forward(request, server);
    const shown = (await answer.json()) as Record<string, unknown>;
    if (memoryId !== '' && (await isStuck(memoryId))) shown.status = 'processing';
    const asked = isLook && memoryId === '' ? (shown as IngestStatuses).items : [];
    for (const one of asked) if (await isStuck(one.memoryId)) one.status = 'processing';
    if (pathname === '/health') shown.pending = 1;
    return Response.json(shown, { status: answer.status });
  });
  return { ...service, looks };
}

test.concurrent('pending memories are reported at the deadline with few requests', async () => {
  await using busy = busyServer(() => true);
  const argv = [...batch, '--timeout', '1s'];
  const around = { stdin: events('late', 400), env: busy.env };
  const { code, stdout, stderr } = await memory(argv, around);
  const sent = { accepted: 400, unchanged: 0, replayed: 0, failed: 0 };
  const waited = { complete: 0, stillProcessing: 400, processingFailed: 0 };
  expect(JSON.parse(stdout)).toEqual({ ...sent, ...waited });
  expect(busy.looks.length).toBeLessThan(20);
  expect(said(stderr)).toBe(
    'Still processing: 400 memories. Nothing is lost. To list them: memory tasks\n',
  );
  expect(code).toBe(8);
});

test.concurrent('completed memories are reported, even if earlier memories are pending', async () => {
  const stuck = new Set<string>();
  await using busy = busyServer((id) => (stuck.has(id) || stuck.size < 10) && !!stuck.add(id));
  const argv = [...batch, '--timeout', '5s'];
  const around = { stdin: events('some', 300), env: busy.env };
  const { code, stdout } = await memory(argv, around);
  expect(JSON.parse(stdout)).toMatchObject({ complete: 290, stillProcessing: 10 });
  expect(code).toBe(8);
});

const ofManyUsers = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, at) => events(`${prefix}-${at}`, 1)).join('\n');

test.concurrent('waiting for a batch larger than the rate limit needs few requests', async () => {
  await using limited = await startTestServer({ MEMORY_RATE_LIMIT: '50/60' });
  const stdin = [events('one', 1_250), events('two', 750), ofManyUsers('some', 20)].join('\n');
  const { code, stdout, stderr } = await memoryAt(limited)(batch, { stdin });
  expect(JSON.parse(stdout)).toMatchObject({ accepted: 2_020, complete: 2_020, failed: 0 });
  expect(code).toBe(0);
  expect(said(stderr)).toBe('');
});

test.concurrent('a 429 in the middle of the wait only delays it', async () => {
  await using limited = await startTestServer({ MEMORY_RATE_LIMIT: '20/2' });
  const stdin = ofManyUsers('flood', 60);
  const { code, stdout } = await memoryAt(limited)(batch, { stdin });
  expect(JSON.parse(stdout)).toMatchObject({ complete: 60 });
  expect(code).toBe(0);
});

test.concurrent('if a rate limit outlasts the wait, unread statuses are reported as processing', async () => {
  await using limited = await startTestServer({ MEMORY_RATE_LIMIT: '2/60' });
  const { memoryId } = await limited.client.ingest.document({ userId: 'u', data: { text: 'a' } });
  await limited.client.key();
  const startedAt = performance.now();
  const argv = ['wait', memoryId, 'mem_other', '--timeout', '1s'];
  const { stdout, ...ran } = await memoryAt(limited)(argv);
  expect(performance.now() - startedAt).toBeLessThan(6_000);
  expect(lines(stdout)).toEqual([`${memoryId}\tprocessing`, 'mem_other\tprocessing']);
  const hint = `Still processing: 2 memories. Nothing is lost. Continue waiting: memory wait ${memoryId} mem_other\n`;
  expectRan(ran, 8, hint);
});

test.concurrent('the summary counts the documents that are still processing', async () => {
  await using busy = busyServer(() => true);
  using folder = foldersFor(memory)('docs', { 'a.md': 'a', 'b.md': 'b' });
  const ran = await folder.ingest(['.', '--timeout', '1s'], { env: busy.env });
  expectRan(ran, 8, '2 accepted, 0 complete, 2 still processing, 0 failed.\n');
});

test.concurrent('deleted memories are counted separately and reported with their ids', async () => {
  const stdin = events('gone', 3);
  await memory(['ingest', 'batch', '-'], { stdin });
  const [gone] = (await server.client.list({ userId: 'gone' })).items;
  await server.client.delete(gone?.id ?? '');
  const { code, stdout, stderr } = await memory(batch, { stdin });
  expect(JSON.parse(stdout)).toMatchObject({ replayed: 3, complete: 2, notFound: 1 });
  expect(said(stderr)).toBe(`${gone?.id}: not found\n`);
  expect(code).toBe(3);
});

test.concurrent('deleted memories of documents are also counted separately', async () => {
  const asked = new Set<string>();
  await using busy = busyServer(async (id) => {
    if (asked.size > 0) return false;
    asked.add(id);
    await server.client.delete(id);
    return true;
  });
  using folder = foldersFor(memory)('gone-docs', { 'a.md': 'a', 'b.md': 'b' });
  const ran = await folder.ingest(['.', '--wait'], { env: busy.env });
  const [id] = asked;
  expectRan(ran, 3, `${id}: not found\n`, '2 accepted, 1 complete, 1 not found, 0 failed.\n');
});

test.concurrent('if the server is gone at the deadline, known statuses are reported and counted', async () => {
  await using busy = busyServer(() => {
    // Stops the proxy during the second status request.
    if (busy.looks.length > 1) setImmediate(() => busy[Symbol.asyncDispose]());
    return true;
  });
  const around = { stdin: events('away', 12), env: busy.env };
  const { stdout, ...ran } = await memory([...batch, '--timeout', '1s'], around);
  expect(JSON.parse(stdout)).toMatchObject({ accepted: 12, complete: 0, stillProcessing: 12 });
  const { items } = await server.client.list({ userId: 'away' });
  const ids = items.map(({ id }) => id).reverse();
  expectRan(ran, 8, `Continue waiting: memory wait ${ids.join(' ')}\n`);
});
