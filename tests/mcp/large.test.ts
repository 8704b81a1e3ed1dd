import { expect, test } from 'bun:test';
import { importAll } from '../support/http.ts';
import { startTestServer, withProject } from '../support/server.ts';
import { importable } from '../support/writes.ts';
import { call, messagesTo } from './messages.ts';

/* Large memories, messages and responses. */

const server = await withProject();
const post = messagesTo(() => server);

test('a page of list_memories is full even if the documents are large', async () => {
  const content = 'word '.repeat(900_000);
  for (const id of ['mem_large_1', 'mem_large_2', 'mem_large_3']) {
    await importAll(server, [{ ...importable('large'), id, content }]);
  }
  const { json } = await post('/mcp/users/large', call('list_memories', {}));
  expect(json.result.content[0].text).toMatch(/^(\[mem_.* word w\S*…\n){3}End of the list\.$/);
});

test('a tool can read a large response from the service', async () => {
  const metadata = { note: 'x'.repeat(16_000) };
  const items = Array.from({ length: 100 }, (_, n) => {
    return { type: 'event' as const, userId: 'wide', metadata, data: { name: `event ${n}` } };
  });
  await server.client.ingest.batch({ items });
  const { json } = await post('/mcp/users/wide', call('list_memories', { limit: 100 }));
  expect(json.result.content[0].text.match(/: event \d+$/gm)).toHaveLength(100);
});

test('a tool can read a response with a character split between two parts of the body', async () => {
  const userId = 'split';
  for (const start of ['', 'a', 'ab']) {
    const content = start + '語'.repeat(7_000);
    const { id } = await server.client.save({ userId, content });
    const { json } = await post('/mcp/users/split', call('get_memory', { id }));
    expect(json.result.content[0].text).toEndWith(`\n\n${content}`);
  }
});

test('a large message does not block the requests of its own tool', async () => {
  // Too little for the message and the tool's request together.
  await using narrow = await startTestServer({ MEMORY_MAX_BODY_BYTES: '150000' });
  const save = call('save_memory', { content: 'öäü '.repeat(15_000).trim() });
  const { json } = await post('/mcp/users/u', save, {}, narrow);
  expect(json.result.content[0].text).toStartWith('Saved: ');
});

test('a text with more marks on a letter than can be put in order does not stop the tools', async () => {
  const save = call('save_memory', { content: `ཀ${'\u0f71\u0f72\u0f74'.repeat(20_000)} yak` });
  const { json } = await post('/mcp/users/marks', save);
  expect(json.result.content[0].text).toStartWith('Saved: ');
  const again = await post('/mcp/users/marks', save);
  expect(again.json.result.content[0].text).toStartWith('Already remembered: ');
});
