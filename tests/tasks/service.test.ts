import { afterAll, beforeAll, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BatchAccepted } from '../../sdk/contract/ingest.ts';
import type { IngestStatuses } from '../../sdk/contract/status.ts';
import { endsThread } from '../storage/faulty-threads.ts';
import { backend } from '../support/backend.ts';
import {
  ask,
  bodyOf,
  expectError,
  getStatus,
  ingest,
  newUser,
  whenComplete,
} from '../support/http.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { endFileVariable } from './end-once.ts';

/* The queue of a running server after its threads have ended. */

const folder = mkdtempSync(join(tmpdir(), 'memory-tasks-'));
const endFile = join(folder, 'end');
let server: TestServer;

beforeAll(async () => {
  process.env[endFileVariable] = endFile;
  const faulty = join(import.meta.dir, '../storage/faulty-threads.ts');
  server = await startTestServer({}, [join(import.meta.dir, 'end-once.ts'), faulty]);
});

afterAll(async () => {
  await server.stop();
  delete process.env[endFileVariable];
  rmSync(folder, { recursive: true, force: true });
});

async function ingestText(): Promise<string> {
  const record = { userId: newUser(), data: { text: 'text' } };
  return (await ingest(server, '/v1/ingest/document', record)).memoryId;
}

test('records are processed after the tasks thread has ended', async () => {
  await whenComplete(server, await ingestText());
  writeFileSync(endFile, '');
  const id = await ingestText();
  await until(() => !existsSync(endFile), { what: 'the end of the thread' });
  // On PostgreSQL, a task that the thread had claimed waits until its lease of ten seconds expires.
  await whenComplete(server, id, 20_000);
  await whenComplete(server, await ingestText());
  expect(await getStatus(server, id)).toMatchObject({ status: 'complete' });
});

test('a record is processed as soon as it is accepted, not at the next poll of the queue', async () => {
  const waits: number[] = [];
  for (let round = 0; round < 6; round += 1) {
    const begun = performance.now();
    await whenComplete(server, await ingestText());
    waits.push(performance.now() - begun);
  }
  // Without a wake-up, each record after the first would wait for the next poll.
  expect(Math.min(...waits.slice(1))).toBeLessThan(200);
});

// Only the SQLite backend has a writer thread.
test.skipIf(backend !== 'sqlite')(
  'records are processed after the writer thread has ended',
  async () => {
    const body = { userId: endsThread, content: 'x' };
    expectError(await ask(server, 'POST', '/v1/memories', { body }), 500, 'internal');
    const accepted = () => ingestText().catch(() => null);
    await whenComplete(server, await until(accepted, { what: 'another writer' }));
  },
);

test('a normal stop uses up no attempt of the tasks that the service had claimed', async () => {
  const own = await startTestServer();
  try {
    const data = { text: 'A sentence of some length. '.repeat(170) };
    const body = { items: Array(1_000).fill({ type: 'document', userId: newUser(), data }) };
    const answer = await ask(own, 'POST', '/v1/ingest/batch', { body });
    const memoryIds = bodyOf<BatchAccepted>(answer, 202).items.map(({ memoryId }) => memoryId);
    await own.restart();
    const processed = async () => {
      // A pause, because reading a thousand statuses delays the processing.
      await Bun.sleep(50);
      const found = await ask(own, 'POST', '/v1/memories/status', { body: { memoryIds } });
      const { items } = bodyOf<IngestStatuses>(found, 200);
      return items.every(({ status }) => status === 'complete') ? items : null;
    };
    const statuses = await until(processed, { what: 'the processing', timeoutMs: 30_000 });
    expect(new Set(statuses.map(({ attempts }) => attempts))).toEqual(new Set([1]));
  } finally {
    await own.stop();
  }
});
