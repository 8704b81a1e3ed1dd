import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { searchByMeaning } from '../support/meaning.ts';
import { withServer } from '../support/server.ts';
import { endsModel, hangsModel } from './faulty-model.ts';

const hungAfterMs = 6_000;
const userId = 'u';
const preload = [join(import.meta.dir, 'faulty-model.ts')];
const server = await withServer({ MEMORY_EMBEDDINGS: 'local' }, preload, { hungAfterMs });
const { id } = await server.client.save({ userId, content: 'Allergic to peanuts' });

const search = (query: string) => server.client.search({ userId, query });

const recovered = (query: string) => searchByMeaning(server.client, { userId, query });

test.each([endsModel, hangsModel])('%s: searches use words until it restarts', async (fault) => {
  await recovered('what food should I avoid?');
  const begun = performance.now();
  const broken = await search(`peanuts ${fault}`);
  expect(performance.now() - begun).toBeLessThan(2_000);
  expect(broken).toMatchObject({ meaning: 'unavailable', items: [{ id, matchedBy: 'words' }] });
  await server.client.save({ userId, content: `Drives a red Toyota ${crypto.randomUUID()}` });
  expect((await server.client.health()).status).toBe('ok');
  const { items } = await recovered('what should she not eat?');
  expect(items[0]).toMatchObject({ id, matchedBy: 'meaning' });
});
