import { describe, expect, test } from 'bun:test';
import type { Accepted, BatchAccepted } from '../../sdk/contract/ingest.ts';
import type { SavedMemory } from '../../sdk/contract/memory.ts';
import { ask, bodyOf, newUser, whenComplete } from '../support/http.ts';
import { probes, readsWithoutProbe, type Sought, whereFound } from '../support/reads.ts';
import { withServer } from '../support/server.ts';

/* No read operation returns an expired or erased memory. */

/** How far the server's clock is ahead. */
let aheadMs = 0;
const now = () => Date.now() + aheadMs;
const server = await withServer({}, [], { now });

const everywhere = Object.keys(probes).sort();
const word = 'zanzibar';
const inAnHour = () => new Date(now() + 3_600_000).toISOString();
const passAnHour = () => {
  aheadMs += 3_600_000;
};

/** Ingests a document, alone or in a batch. */
async function ingested(more: object, { isBatch = false } = {}): Promise<Sought> {
  const userId = newUser();
  const item = { type: 'document', userId, data: { text: `to ${word}` }, ...more };
  const [path, body] = isBatch ? ['/v1/ingest/batch', { items: [item] }] : ['/v1/ingest', item];
  const answer = bodyOf<Accepted & BatchAccepted>(await ask(server, 'POST', path, { body }), 202);
  return { id: answer.memoryId ?? answer.items[0]?.memoryId, userId, word };
}

async function saved(more: object = {}): Promise<Sought> {
  const userId = newUser();
  const body = { userId, content: `to ${word}`, ...more };
  const { id } = bodyOf<SavedMemory>(await ask(server, 'POST', '/v1/memories', { body }), 201);
  return { id, userId, word };
}

test('every read in the contract has a probe', () => {
  expect(readsWithoutProbe()).toEqual([]);
});

const ways: [how: string, make: () => Promise<Sought>][] = [
  [
    'was saved with an expiry',
    async () => {
      return saved({ expiresAt: inAnHour() });
    },
  ],
  [
    'was replaced with one that expires',
    async () => {
      const body = { userId: newUser(), content: `to ${word}`, externalId: 'e' };
      await ask(server, 'POST', '/v1/memories', { body });
      const again = { body: { ...body, expiresAt: inAnHour() } };
      const { id } = bodyOf<SavedMemory>(await ask(server, 'POST', '/v1/memories', again), 200);
      return { id, userId: body.userId, word };
    },
  ],
  [
    'was updated with an expiry',
    async () => {
      const sought = await saved();
      const body = { expiresAt: inAnHour() };
      await ask(server, 'PATCH', `/v1/memories/${sought.id}`, { body });
      return sought;
    },
  ],
  ['was ingested with an expiry', () => ingested({ expiresAt: inAnHour() })],
  [
    'was ingested in a batch with an expiry',
    () => ingested({ expiresAt: inAnHour() }, { isBatch: true }),
  ],
];

describe.each(ways)('a memory that %s', (_, make) => {
  test('is found by every read and search before it expires, and by no read or search afterwards', async () => {
    const sought = await make();
    await whenComplete(server, sought.id);
    expect(await whereFound(server, sought)).toEqual(everywhere);
    passAnHour();
    expect(await whereFound(server, sought)).toEqual([]);
  });
});

test.each<[how: string, erase: (sought: Sought) => [method: string, path: string]]>([
  ['deleted', ({ id }) => ['DELETE', `/v1/memories/${id}`]],
  ['erased with its user', ({ userId }) => ['DELETE', `/v1/memories?userId=${userId}`]],
])('no read finds a saved or ingested memory that was %s', async (_, erase) => {
  for (const sought of [await saved(), await ingested({}), await ingested({}, { isBatch: true })]) {
    await whenComplete(server, sought.id);
    expect(await whereFound(server, sought)).toEqual(everywhere);
    const [method, path] = erase(sought);
    expect((await ask(server, method, path)).status).toBeLessThan(300);
    expect(await whereFound(server, sought)).toEqual([]);
  }
});
