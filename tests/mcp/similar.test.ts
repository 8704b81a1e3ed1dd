import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../support/server.ts';
import { connectTo, type Way } from './connect.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

test('a save lists at most three similar memories, as in docs/limits.md', async () => {
  const [userId, content] = ['ada', 'Prefers dark mode'];
  for (let count = 0; count < 6; count += 1) await server.client.save({ userId, content });
  const way: Way = { transport: 'http', version: '2026-07-28' };
  await using memory = await connectTo(server, way, { userId });
  const saved = await memory.call('save_memory', { content });
  expect(saved).toStartWith('Saved: ');
  expect(saved.match(/^Similar: /gm)).toHaveLength(3);
});
