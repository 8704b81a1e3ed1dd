import { afterAll, beforeAll, expect, test } from 'bun:test';
import { holdRecord } from '../support/queue.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { connectTo, type Way } from './connect.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const way: Way = { transport: 'http', version: '2026-07-28' };

test('a save lists at most three similar memories, as in docs/limits.md', async () => {
  const [userId, content] = ['ada', 'Prefers dark mode'];
  for (let count = 0; count < 6; count += 1) await server.client.save({ userId, content });
  await using memory = await connectTo(server, way, { userId });
  const saved = await memory.call('save_memory', { content });
  expect(saved).toStartWith('Saved: ');
  expect(saved.match(/^Similar: /gm)).toHaveLength(3);
});

test('a memory that is not complete is listed with its status', async () => {
  const held = await holdRecord(server);
  await using reader = await connectTo(server, way, { userId: held.userId });
  const head = `[${held.memoryId}] ${new Date().toISOString().slice(0, 10)} document`;
  expect(await reader.call('list_memories')).toStartWith(`${head} (processing): held back`);
  await held.fail('no luck');
  expect(await reader.call('list_memories')).toStartWith(`${head} (failed): held back`);
});
