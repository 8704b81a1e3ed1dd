import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { MemoryClient } from '../../sdk/index.ts';
import { startServer } from '../../server/main.ts';
import { emptyDatabase } from '../support/backend.ts';
import { startTestServer } from '../support/server.ts';
import { until } from '../support/until.ts';

test('/health reports a failure while the tasks thread is blocked, and the thread is replaced', async () => {
  const server = await startTestServer({}, [join(import.meta.dir, 'blocked-tasks.ts')]);
  try {
    const { client } = server;
    const ingest = () => client.ingest.document({ userId: 'u', data: { text: 'a lantern' } });
    await ingest();
    const isFailing = async () => {
      const state = await client.health();
      if (state.status === 'failing') return state;
      // On a busy machine, the thread may be replaced unseen. It is then blocked again.
      if (state.pending === 0) await ingest();
      return null;
    };
    const failing = await until(isFailing, { what: 'the failure', timeoutMs: 20_000 });
    expect(failing.message).toBe('the tasks thread does not respond');
    await client.save({ userId: 'u', content: 'still saved' });
    await client.waitUntilComplete((await ingest()).memoryId);
    await until(async () => {
      const { status, pending } = await client.health();
      return status === 'ok' && pending === 0;
    });
  } finally {
    await server.stop();
  }
});

test('a tasks thread that ends repeatedly stops the service', async () => {
  const { url: databaseUrl, remove } = await emptyDatabase();
  const reasons: string[] = [];
  const server = await startServer({
    env: { LOG_LEVEL: 'silent', MEMORY_EMBEDDINGS: 'off' },
    port: 0,
    databaseUrl,
    preload: [join(import.meta.dir, 'ending-tasks.ts')],
    onFatal: (reason) => reasons.push(reason),
  });
  try {
    const client = new MemoryClient({ apiKey: server.firstKey ?? '', baseUrl: server.url });
    await until(async () => {
      await client.ingest.document({ userId: 'u', data: { text: 'a lantern' } });
      return reasons.length > 0;
    });
    expect(reasons).toEqual([
      expect.stringContaining('the tasks thread exited; too many restarts'),
    ]);
  } finally {
    await server.stop();
    await remove();
  }
});
