import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { startTestServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { endsModel, hangsModel } from './faulty-model.ts';

const hungAfterMs = 6_000;
const userId = 'u';
let server: TestServer;
let id: string;
beforeAll(async () => {
  const preload = [join(import.meta.dir, 'faulty-model.ts')];
  server = await startTestServer({ MEMORY_EMBEDDINGS: 'local' }, preload, { hungAfterMs });
  ({ id } = await server.client.save({ userId, content: 'Allergic to peanuts' }));
});
afterAll(() => server.stop());

const search = (query: string) => server.client.search({ userId, query });

/** Searches until meanings are compared. */
function recovered(query: string) {
  return until(async () => {
    const answer = await search(query);
    return answer.meaning === 'used' ? answer : null;
  });
}

test.each([endsModel, hangsModel])(
  '%s: searches use words until it has been restarted, and saves succeed',
  async (fault) => {
    await recovered('what food should I avoid?');
    const begun = performance.now();
    const broken = await search(`peanuts ${fault}`);
    expect(performance.now() - begun).toBeLessThan(2_000);
    expect(broken).toMatchObject({ meaning: 'unavailable', items: [{ id, matchedBy: 'words' }] });
    await server.client.save({ userId, content: `Drives a red Toyota ${crypto.randomUUID()}` });
    expect((await server.client.health()).status).toBe('ok');
    const { items } = await recovered('what should she not eat?');
    expect(items[0]).toMatchObject({ id, matchedBy: 'meaning' });
  },
);
