import { expect, test } from 'bun:test';
import type { IngestStatuses } from '../../sdk/index.ts';
import { event, events, lines, withMemory } from './command.ts';
import { forward, startService } from './service.ts';

/* Tests of how --wait reads the statuses of many memories, up to 1,000 per request. */

const { server, memory } = await withMemory();

const batch = ['ingest', 'batch', '-', '--wait', '--json'];

/** Starts a proxy that reports selected memories as failed and counts the status requests. */
function countingProxy(isFailed: (id: string) => boolean = () => false) {
  const counts = { reads: 0, most: 0 };
  const service = startService(async (request) => {
    const answer = await forward(request, server);
    if (!request.url.endsWith('/v1/memories/status')) return answer;
    const shown = (await answer.json()) as IngestStatuses;
    counts.reads += 1;
    counts.most = Math.max(counts.most, shown.items.length);
    const failed = { status: 'failed', errorMessage: 'failed by the test' };
    const items = shown.items.map((one) => (isFailed(one.memoryId) ? { ...one, ...failed } : one));
    return Response.json({ ...shown, items });
  });
  return { ...service, counts };
}

test('a failed memory is reported with its reason', async () => {
  const numbers = Array.from({ length: 30 }, (_, at) => `${at}`);
  const stdin = numbers.map((at) => event('failed', at, { externalId: at })).join('\n');
  await memory(batch, { stdin });
  const [one] = (await server.client.list({ userId: 'failed', externalId: '7' })).items;
  await using proxy = countingProxy((id) => id === one?.id);
  const { code, stdout, stderr } = await memory(batch, { stdin, env: proxy.env });
  expect(JSON.parse(stdout)).toMatchObject({ complete: 29, processingFailed: 1 });
  expect(stderr).toBe(`${one?.id}: failed by the test\n`);
  expect(code).toBe(1);
});

test('thousands of complete memories are read with one request per thousand', async () => {
  const stdin = [1, 2, 3, 4, 5].map((user) => events(`many-${user}`, 500)).join('\n');
  await memory(batch, { stdin });
  await using proxy = countingProxy();
  const { code, stdout } = await memory(batch, { stdin, env: proxy.env });
  expect(JSON.parse(stdout)).toMatchObject({ replayed: 2_500, complete: 2_500 });
  expect(proxy.counts).toEqual({ reads: 3, most: 1_000 });
  expect(code).toBe(0);
});

test('memory wait reports each memory when it finishes, failed ones with the reason', async () => {
  const events = [1, 2, 3].map((at) => JSON.parse(event('wait', `${at}`)));
  const { items } = await server.client.ingest.batch({ items: events });
  const ids = items.map(({ memoryId }) => memoryId);
  await using proxy = countingProxy((id) => id === ids[1]);
  const { code, stdout } = await memory(['wait', ...ids], { env: proxy.env });
  const ends = ['complete', 'failed\tfailed by the test', 'complete'];
  expect(lines(stdout).sort()).toEqual(ids.map((id, at) => `${id}\t${ends[at]}`).sort());
  expect(code).toBe(1);
  const { stdout: json } = await memory(['wait', ...ids, '--json'], { env: proxy.env });
  const printed = lines(json).map((line) => JSON.parse(line));
  expect(printed).toContainEqual(expect.objectContaining({ memoryId: ids[1], status: 'failed' }));
});

test('a memory that was deleted during --wait: exit 3 and the reason', async () => {
  await using service = startService(({ url }) =>
    url.endsWith('/status')
      ? Response.json({ items: [], notFound: ['mem_a'] })
      : Response.json({ memoryId: 'mem_a', status: 'processing' }, { status: 202 }),
  );
  const argv = ['ingest', 'document', '--user', 'u', '-', '--wait'];
  const ran = await memory(argv, { ...service, stdin: 'text' });
  expect(ran).toMatchObject({ code: 3, stderr: 'Failed: not found\n' });
});
