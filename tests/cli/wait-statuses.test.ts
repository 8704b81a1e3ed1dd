import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { IngestStatus, Memory } from '../../sdk/index.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { lines, memoryAt } from './command.ts';

/* How --wait reads the states of many memories: by pages of a user, and one by one. */

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const records = (userId: string, count: number, more: object = {}) =>
  Array.from({ length: count }, (_, at) =>
    JSON.stringify({ type: 'event', userId, data: { name: `e${at}` }, ...more }),
  );
const named = (userId: string, count: number) =>
  Array.from({ length: count }, (_, at) => records(userId, 1, { externalId: `${at}` })[0]);
const batch = ['ingest', 'batch', '-', '--wait', '--json'];

/** The server behind a proxy that reports some memories as failed, and counts the reads. */
function countingProxy(isFailed: (id: string) => boolean = () => false) {
  const reads = { lists: 0, statuses: 0 };
  const proxy = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { method, headers } = request;
      const { pathname, search } = new URL(request.url);
      const body = method === 'GET' ? null : await request.arrayBuffer();
      const answer = await fetch(server.url + pathname + search, { method, headers, body });
      if (method !== 'GET' || !pathname.startsWith('/v1/memories')) return answer;
      if (!pathname.endsWith('/status')) {
        reads.lists += 1;
        const page = (await answer.json()) as { items: Memory[] };
        for (const one of page.items) if (isFailed(one.id)) one.status = 'failed';
        return Response.json(page);
      }
      reads.statuses += 1;
      const status = (await answer.json()) as IngestStatus;
      const failed = { status: 'failed', errorMessage: 'it was to fail' };
      return Response.json(isFailed(status.memoryId) ? { ...status, ...failed } : status);
    },
  });
  return {
    env: { MEMORY_BASE_URL: `http://127.0.0.1:${proxy.port}` },
    reads,
    [Symbol.asyncDispose]: () => proxy.stop(true),
  };
}

test('one that failed is found in a list; why, its own status says', async () => {
  const stdin = named('failed', 30).join('\n');
  await memoryAt(server)(batch, { stdin });
  const [one] = (await server.client.list({ userId: 'failed', externalId: '7' })).items;
  await using proxy = countingProxy((id) => id === one?.id);
  const { code, stdout, stderr } = await memoryAt(server)(batch, { stdin, env: proxy.env });
  expect(JSON.parse(stdout)).toMatchObject({ complete: 29, processingFailed: 1 });
  expect(stderr).toBe(`${one?.id} failed: it was to fail\n`);
  expect(code).toBe(1);
});

test('memories that lie behind many newer ones are read one by one, not by every page', async () => {
  await memoryAt(server)(batch, { stdin: named('old', 6).join('\n') });
  await memoryAt(server)(batch, { stdin: records('old', 1_500).join('\n') });
  await using proxy = countingProxy();
  const stdin = named('old', 6).join('\n');
  const { code, stdout } = await memoryAt(server)(batch, { stdin, env: proxy.env });
  expect(JSON.parse(stdout)).toMatchObject({ accepted: 6, complete: 6 });
  expect(code).toBe(0);
  expect(proxy.reads.lists).toBeLessThan(12);
  expect(proxy.reads.statuses).toBeGreaterThanOrEqual(6);
});

test('few of each user are asked one by one', async () => {
  await using proxy = countingProxy();
  const stdin = ['a', 'b', 'c'].flatMap((user) => records(`few-${user}`, 2)).join('\n');
  const { stdout } = await memoryAt(server)(batch, { stdin, env: proxy.env });
  expect(JSON.parse(stdout)).toMatchObject({ accepted: 6, complete: 6 });
  expect(proxy.reads.lists).toBe(0);
});

test('memory wait reports each as it ends, the failed with its reason', async () => {
  const { items } = await server.client.ingest.batch({
    items: records('wait', 3).map((text) => JSON.parse(text)),
  });
  const ids = items.map(({ memoryId }) => memoryId);
  await using proxy = countingProxy((id) => id === ids[1]);
  const { code, stdout } = await memoryAt(server)(['wait', ...ids], { env: proxy.env });
  expect(lines(stdout).toSorted()).toEqual(
    [`${ids[0]}\tcomplete`, `${ids[1]}\tfailed\tit was to fail`, `${ids[2]}\tcomplete`].toSorted(),
  );
  expect(code).toBe(1);
});
