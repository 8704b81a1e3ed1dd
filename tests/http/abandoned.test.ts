import { expect, test } from 'bun:test';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { slowMs, slowsThread } from '../storage/faulty-threads.ts';
import { type Answer, ask, bodyOf, expectError } from '../support/http.ts';
import { type TestServer, withServer } from '../support/server.ts';
import { dial, head } from '../support/socket.ts';
import { importable } from '../support/writes.ts';

const server = await withServer({}, [join(import.meta.dir, '../storage/faulty-threads.ts')]);

test('searches from disconnected clients are not executed', async () => {
  const userId = 'u';
  const slow = { userId, query: slowsThread };
  const gone = new AbortController();
  const count = 80;
  const first = server.client.search(slow);
  const abandoned = Array.from({ length: count }, () =>
    server.client.search(slow, { signal: gone.signal }),
  );
  // When the first search returns, the other searches have arrived and are queued.
  await first;
  gone.abort();
  const begun = performance.now();
  await Promise.allSettled(abandoned);
  expect((await server.client.search({ userId, query: 'a' })).items).toEqual([]);
  // Executing all searches would take longer, because a project uses at most eight threads.
  expect(performance.now() - begun).toBeLessThan((count * slowMs) / 8);
});

/** Four of these make up a response of which three fit into a project's share. */
const content = 'lorem '.padEnd(4_800_000, '-');
const search = '/v1/memories/search?userId=u&query=lorem';

async function importTexts(into: TestServer, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const items = [{ ...importable('u'), id: `mem_${index}`, content }];
    bodyOf(await ask(into, 'POST', '/v1/import', { body: { items } }), 200);
  }
}

function itemsOf(answer: Answer | undefined): unknown[] {
  return answer === undefined ? [] : bodyOf<{ items: unknown[] }>(answer, 200).items;
}

/** Sends a search and reads only the beginning of the response. */
async function beginToRead(): Promise<Socket> {
  const socket = dial(server);
  socket.write(head(server, 'GET', search));
  await once(socket, 'data');
  return socket.pause();
}

test('responses that clients do not read are limited, which other projects do not feel', async () => {
  const other = { ...server, key: await server.createKey('other') };
  await importTexts(server, 4);
  await importTexts(other, 1);
  const unread = await Promise.all([beginToRead(), beginToRead(), beginToRead()]);
  const later = [ask(server, 'GET', search), ask(server, 'GET', search)];
  const refused = await Promise.race(later);
  expectError(refused, 503, 'unavailable');
  expect(refused.headers.get('retry-after')).toBe('1');
  expect(itemsOf(await ask(other, 'GET', search))).toHaveLength(1);
  for (const socket of unread) socket.destroy();
  const answers = await Promise.all(later);
  const [waited] = answers.filter((answer) => answer !== refused);
  expect(itemsOf(waited)).toHaveLength(4);
});

/** Its response has one of the texts. Thirteen of them fit into a project's share. */
const firstPage = '/v1/export?userId=u';

/** Leaves before a reader thread has returned the page. */
async function leaveEarly(): Promise<void> {
  const socket = dial(server);
  await once(socket, 'connect');
  socket.write(head(server, 'GET', firstPage), () => socket.destroy());
  await once(socket, 'close');
}

test('responses to clients that left before them do not count', async () => {
  await importTexts(server, 1);
  for (let left = 0; left < 14; left += 1) await leaveEarly();
  for (let asked = 0; asked < 2; asked += 1) {
    expect(itemsOf(await ask(server, 'GET', firstPage))).toHaveLength(1);
  }
});
