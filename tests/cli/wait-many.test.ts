import { expect, test } from 'bun:test';
import { startTestServer } from '../support/server.ts';
import { event, events, expectRan, lines, linesOf, memoryAt, withMemory } from './command.ts';
import { foldersFor } from './folder.ts';
import { startService, statusProxy } from './service.ts';

const { server, memory } = await withMemory();

const batch = ['ingest', 'batch', '-', '--wait', '--json'];
/** Sends records through a service and waits. Returns the report, too. */
async function waitFor(stdin: string, env: Record<string, string>, ...more: string[]) {
  const ran = await memory([...batch, ...more], { stdin, env });
  return { ...ran, report: JSON.parse(ran.stdout) };
}

/** Without the progress that a slow machine has time for. */
const said = (stderr: string) => stderr.replace(/^[\d,]+ records .*\n/gm, '');

const processing = { status: 'processing' };

test.concurrent('pending memories are reported at the deadline with few requests', async () => {
  await using busy = statusProxy(server, () => processing);
  const { report, ...ran } = await waitFor(events('late', 400), busy.env, '--timeout', '1s');
  const sent = { accepted: 400, unchanged: 0, replayed: 0, failed: 0 };
  const waited = { complete: 0, stillProcessing: 400, processingFailed: 0 };
  expect(report).toEqual({ ...sent, ...waited });
  expect(busy.reads.length).toBeLessThan(20);
  const pending = 'Still processing: 400 memories. Nothing is lost. To list them: memory tasks';
  expect({ code: ran.code, said: said(ran.stderr) }).toEqual({ code: 8, said: `${pending}\n` });
});

const ofManyUsers = (prefix: string, count: number) =>
  linesOf(count, (at) => event(`${prefix}-${at}`, 'e'));

test.concurrent('waiting for a batch larger than the rate limit needs few requests', async () => {
  await using limited = await startTestServer({ MEMORY_RATE_LIMIT: '50/60' });
  const stdin = [events('one', 1_250), events('two', 750), ofManyUsers('some', 20)].join('\n');
  const { stdout, ...ran } = await memoryAt(limited)(batch, { stdin });
  expect(JSON.parse(stdout)).toMatchObject({ accepted: 2_020, complete: 2_020, failed: 0 });
  expectRan({ ...ran, stderr: said(ran.stderr) }, 0);
});

// The client itself waits for a Retry-After of up to a minute.
test.concurrent.each(['2/60', '2/120'])(
  'if the rate limit %s outlasts the wait, unread statuses are reported as processing',
  async (limit) => {
    await using limited = await startTestServer({ MEMORY_RATE_LIMIT: limit });
    const { memoryId } = await limited.client.ingest.document({ userId: 'u', data: { text: 'a' } });
    await limited.client.key();
    const startedAt = performance.now();
    const argv = ['wait', memoryId, 'mem_other', '--timeout', '1s'];
    const { stdout, ...ran } = await memoryAt(limited)(argv);
    expect(performance.now() - startedAt).toBeLessThan(6_000);
    expect(lines(stdout)).toEqual([`${memoryId}\tprocessing`, 'mem_other\tprocessing']);
    const hint = `Still processing: 2 memories. Nothing is lost. Continue waiting: memory wait ${memoryId} mem_other\n`;
    expectRan(ran, 8, hint);
  },
);

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

test.concurrent('documents that are deleted or still processing are counted separately', async () => {
  const asked: string[] = [];
  await using busy = statusProxy(server, async (id) => {
    if (!asked.includes(id) && asked.push(id) === 1) await server.client.delete(id);
    return id === asked[2] ? {} : processing;
  });
  using folder = foldersFor(memory)('gone-docs', { 'a.md': 'a', 'b.md': 'b', 'c.md': 'c' });
  const ran = await folder.ingest(['.', '--timeout', '1s'], { env: busy.env });
  const counts = '3 accepted, 1 complete, 1 still processing, 1 not found, 0 failed.\n';
  expectRan(ran, 3, `${asked[0]}: not found\n`, counts);
});

test.concurrent('if the server is gone at the deadline, known statuses are reported and counted', async () => {
  await using busy = statusProxy(server, () => {
    // Stops the proxy during the second status request.
    if (busy.reads.length > 1) setImmediate(() => busy[Symbol.asyncDispose]());
    return processing;
  });
  const around = { stdin: events('away', 12), env: busy.env };
  const { stdout, ...ran } = await memory([...batch, '--timeout', '1s'], around);
  expect(JSON.parse(stdout)).toMatchObject({ accepted: 12, complete: 0, stillProcessing: 12 });
  const { items } = await server.client.list({ userId: 'away' });
  const ids = items.map(({ id }) => id).reverse();
  expectRan(ran, 8, `Continue waiting: memory wait ${ids.join(' ')}\n`);
});

const failed = { status: 'failed', errorMessage: 'failed by the test' };

test.concurrent('a failed memory is reported with its reason', async () => {
  const stdin = linesOf(30, (at) => event('failed', `${at}`, { externalId: `${at}` }));
  await memory(batch, { stdin });
  const [one] = (await server.client.list({ userId: 'failed', externalId: '7' })).items;
  await using proxy = statusProxy(server, (id) => (id === one?.id ? failed : {}));
  const { code, report, stderr } = await waitFor(stdin, proxy.env);
  expect({ code, ...report }).toMatchObject({ code: 1, complete: 29, processingFailed: 1 });
  expect(stderr).toBe(`${one?.id}: failed by the test\n`);
});

test.concurrent('thousands of complete memories are read with one request per thousand', async () => {
  const stdin = [1, 2, 3, 4, 5].map((user) => events(`many-${user}`, 500)).join('\n');
  await memory(batch, { stdin });
  await using proxy = statusProxy(server, () => ({}));
  const { code, report } = await waitFor(stdin, proxy.env);
  expect({ code, ...report }).toMatchObject({ code: 0, replayed: 2_500, complete: 2_500 });
  expect(proxy.reads).toEqual([1_000, 1_000, 500]);
});

test.concurrent('memory wait reports each memory when it finishes, failed ones with the reason', async () => {
  const items = [1, 2, 3].map((at) => JSON.parse(event('wait', `${at}`)));
  const accepted = await server.client.ingest.batch({ items });
  const ids = accepted.items.map(({ memoryId }) => memoryId);
  await using proxy = statusProxy(server, (id) => (id === ids[1] ? failed : {}));
  const { code, stdout } = await memory(['wait', ...ids], { env: proxy.env });
  const ends = ['complete', 'failed\tfailed by the test', 'complete'];
  expect(lines(stdout).sort()).toEqual(ids.map((id, at) => `${id}\t${ends[at]}`).sort());
  expect(code).toBe(1);
  const { stdout: json } = await memory(['wait', ...ids, '--json'], { env: proxy.env });
  const printed = lines(json).map((line) => JSON.parse(line));
  expect(printed).toContainEqual(expect.objectContaining({ memoryId: ids[1], status: 'failed' }));
});

test.concurrent('a memory that was deleted during --wait: exit 3 and the reason', async () => {
  await using service = startService(({ url }) =>
    url.endsWith('/status')
      ? Response.json({ items: [], notFound: ['mem_a'] })
      : Response.json({ memoryId: 'mem_a', status: 'processing' }, { status: 202 }),
  );
  const argv = ['ingest', 'document', '--user', 'u', '-', '--wait'];
  const ran = await memory(argv, { ...service, stdin: 'text' });
  expect(ran).toMatchObject({ code: 3, stderr: 'Failed: not found\n' });
});

test.concurrent.each<[string, string, number, NodeJS.Signals, RegExp]>([
  ['ingest batch - --json', events('many', 20), 20, 'SIGINT', /"code":"interrupted"/],
  ['ingest record -', `${events('two', 2)}\n{`, 2, 'SIGTERM', /^$/],
  ['ingest document --user docs .', '', 2, 'SIGINT', /^(mem_\w+\t\w\.md\n){2}$/],
  ['ingest document --user one - --json', 'text', 1, 'SIGTERM', /"code":"interrupted"/],
  ['ingest document --user plain -', 'text', 1, 'SIGINT', /^mem_\w+\n$/],
])('an interrupted "%s --wait" says how to go on', async (line, stdin, count, signal, stdout) => {
  const interruption = new AbortController();
  await using proxy = statusProxy(server, () => {
    interruption.abort(signal);
    return { status: 'processing' };
  });
  using folder = foldersFor(memory)('docs', { 'a.md': 'a', 'b.md': 'b' });
  const around = { env: proxy.env, cwd: folder.path, interrupted: interruption.signal };
  const ran = await memory([...line.split(' '), '--wait'], { ...around, stdin });
  expect(ran.code).toBe(signal === 'SIGINT' ? 130 : 143);
  expect(ran.stdout).toMatch(stdout);
  const ids = `memory wait( mem_\\w+){${count}}\n`;
  expect(ran.stderr).toMatch(
    new RegExp(`^Still processing: ${count} memor.*\\. Nothing is lost\\. .*${ids}`, 'm'),
  );
  for (const [id] of ran.stdout.matchAll(/mem_\w+/g)) expect(ran.stderr).toContain(` ${id}`);
  expect(ran.stderr.endsWith('Error: Interrupted.\n')).toBe(!line.endsWith('--json'));
});
