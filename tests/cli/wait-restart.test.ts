import { expect, test } from 'bun:test';
import { freePort } from '../support/process.ts';
import { leaseRecord } from '../support/queue.ts';
import { startTestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { expectRan, memory, memoryAt } from './command.ts';
import { startService } from './service.ts';

/** More connections than the attempts of one request. */
const attemptsInOutage = 8;

/** Accepts connections and ends them, as an unreachable service would. Resolves after several. */
async function outage(port: number): Promise<void> {
  let attempts = 0;
  const socket = {
    open(client: { end(): void }) {
      attempts += 1;
      client.end();
    },
    data() {},
  };
  using _ = Bun.listen({ hostname: '127.0.0.1', port, socket });
  await until(() => attempts >= attemptsInOutage, { what: 'the attempts' });
}

test.concurrent('memory wait for three memories continues after a server restart', async () => {
  const port = freePort();
  await using server = await startTestServer({}, [], { port });
  const leased = await leaseRecord(server);
  const others: string[] = [];
  for (const externalId of ['1', '2']) {
    const record = { userId: 'u', externalId, data: { text: externalId } };
    others.push((await server.client.ingest.document(record)).memoryId);
  }
  let ended = false;
  let output = '';
  const onOutput = (text: string) => {
    output += text;
  };
  const argv = ['wait', ...others, leased.memoryId, '--timeout', '30s'];
  const waiting = memoryAt(server)(argv, { onOutput }).finally(() => {
    ended = true;
  });
  const allPrinted = async () => others.every((id) => output.includes(id));
  await until(allPrinted, { what: 'the other memories' });
  await server.restart(() => outage(port));
  expect(ended).toBe(false);
  await leased.fail('failed by the test');
  const { code, stdout } = await waiting;
  expect(stdout).toContain(`${leased.memoryId}\t`);
  expect([0, 1]).toContain(code);
}, 40_000);

/** Starts a service whose memories are processing, until it has answered this many requests. */
function processingService(completeAfter = Number.POSITIVE_INFINITY) {
  let answered = 0;
  const { env, ...service } = startService(async (request) => {
    answered += 1;
    const status = answered < completeAfter ? 'processing' : 'complete';
    const { memoryIds } = (await request.json()) as { memoryIds: string[] };
    const items = memoryIds.map((memoryId) => ({ memoryId, status, errorMessage: null }));
    return Response.json({ items, notFound: [] }, { headers: { connection: 'close' } });
  });
  const around = { env: { ...env, MEMORY_API_KEY: 'a-key-for-tests-1234' } };
  return { ...service, around, count: () => answered };
}

test.concurrent('a wait for thousands of memories polls with one request while none completes', async () => {
  const ids = Array.from({ length: 5_000 }, (_, at) => `mem_${at}`);
  await using service = processingService();
  const { code } = await memory(['wait', ...ids, '--timeout', '2s'], service.around);
  expect(code).toBe(8);
  // Only at the deadline are all 5,000 statuses read, in five requests.
  expect(service.count()).toBeWithin(5, 15);
});

test.concurrent('a wait for many memories fails immediately if the service has never been reachable', async () => {
  const env = { MEMORY_BASE_URL: 'http://127.0.0.1:1', MEMORY_API_KEY: 'a-key-for-tests-1234' };
  const argv = ['wait', 'mem_1', 'mem_2', '--timeout', '30s'];
  expectRan(await memory(argv, { env }), 5, 'Cannot reach');
});

test.concurrent('a wait does not end early if the wall clock is set forward', async () => {
  await using service = processingService(3);
  let time = Date.now();
  const now = () => {
    time += 3_600_000;
    return time;
  };
  const ran = await memory(['wait', 'mem_1', '--timeout', '10s'], { ...service.around, now });
  expect(ran).toMatchObject({ code: 0, stdout: 'mem_1\tcomplete\n' });
});

test.concurrent('a --timeout without a unit is in seconds', async () => {
  const readsWithin = async (timeout: string) => {
    await using service = processingService();
    // The clock advances 2.5 s per reading, so the number of reads depends only on the timeout.
    const argv = ['wait', 'mem_1', '--timeout', timeout];
    const { code } = await memory(argv, { ...service.around, tickMs: 2_500 });
    expect(code).toBe(8);
    return service.count();
  };
  expect(await readsWithin('10')).toBe(await readsWithin('10s'));
});
