import { expect, test } from 'bun:test';
import { ask, ingest, newUser, whenComplete } from '../support/http.ts';
import { isWrite, named, perform, type Target } from '../support/operation-requests.ts';
import { withServer } from '../support/server.ts';

/** How far the server's clock is ahead. */
let aheadMs = 0;
const now = () => Date.now() + aheadMs;
const server = await withServer({}, [], { now });

const reads = named.filter((name) => !isWrite(name));
const word = 'zanzibar';

/** Returns the reads that show the memory, its status or its user, who has no other memory. */
async function whereFound(sought: Target): Promise<string[]> {
  const { id, userId } = sought;
  const signs = [`"id":"${id}"`, `"memoryId":"${id}"`, `"userId":"${userId}"`];
  const answers = await Promise.all(reads.map((name) => perform(server, name, sought)));
  return reads.filter((_, at) => signs.some((sign) => answers[at]?.text.includes(sign)));
}

const inAnHour = () => new Date(now() + 3_600_000).toISOString();
const passAnHour = () => {
  aheadMs += 3_600_000;
};

/** Ingests a document, alone or in a batch. */
async function ingested(path: string, more: object = {}): Promise<Target> {
  const userId = newUser();
  const record = { type: 'document', userId, data: { text: `to ${word}` }, ...more };
  return { id: (await ingest(server, path, record)).memoryId, userId, text: word };
}

async function saved(more: object = {}): Promise<Target> {
  const fields = { userId: newUser(), content: `to ${word}` };
  const { id, userId } = await server.client.save({ ...fields, ...more });
  return { id, userId, text: word };
}

test.each<[how: string, make: () => Promise<Target>]>([
  ['saved', () => saved({ expiresAt: inAnHour() })],
  [
    'replaced',
    async () => {
      const known = { userId: newUser(), externalId: 'e' };
      await saved(known);
      return saved({ ...known, expiresAt: inAnHour() });
    },
  ],
  [
    'updated',
    async () => {
      const sought = await saved();
      await server.client.update(sought.id, { expiresAt: inAnHour() });
      return sought;
    },
  ],
  ['ingested', () => ingested('/v1/ingest', { expiresAt: inAnHour() })],
  ['ingested in a batch', () => ingested('/v1/ingest/batch', { expiresAt: inAnHour() })],
])('no read finds a memory that was %s with an expiry, once it has expired', async (_, make) => {
  const sought = await make();
  await whenComplete(server, sought.id);
  expect(await whereFound(sought)).toEqual(reads);
  passAnHour();
  expect(await whereFound(sought)).toEqual([]);
});

test.each<[how: string, erase: (sought: Target) => [method: string, path: string]]>([
  ['deleted', ({ id }) => ['DELETE', `/v1/memories/${id}`]],
  ['erased with its user', ({ userId }) => ['DELETE', `/v1/memories?userId=${userId}`]],
])('no read finds a saved or ingested memory that was %s', async (_, erase) => {
  const paths = ['/v1/ingest', '/v1/ingest/batch'];
  const records = await Promise.all(paths.map((path) => ingested(path)));
  for (const sought of [await saved(), ...records]) {
    await whenComplete(server, sought.id);
    expect(await whereFound(sought)).toEqual(reads);
    const [method, path] = erase(sought);
    expect((await ask(server, method, path)).status).toBeLessThan(300);
    expect(await whereFound(sought)).toEqual([]);
  }
});
