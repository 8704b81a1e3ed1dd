import { afterEach, describe, expect, test } from 'bun:test';
import type { SearchAnswer } from '../../sdk/contract/search.ts';
import { MemoryClient } from '../../sdk/index.ts';
import { probe } from '../../server/embeddings/calibration.ts';
import { type RunningServer, startServer } from '../../server/main.ts';
import { emptyDatabase } from '../support/backend.ts';
import { type EmbeddingsEndpoint, faults, startEndpoint } from '../support/embeddings-endpoint.ts';
import { rejectionOf } from '../support/thrown.ts';
import { until } from '../support/until.ts';

/* Searches with the model of an endpoint, in this process, and the faults of the endpoint. */

const apiKey = 'a-key-for-tests-1234';
const userId = 'u';
const question = 'what food should I avoid?';

type Fixture = { endpoint: EmbeddingsEndpoint; databaseUrl: string };
type Started = { running: RunningServer; client: MemoryClient; lines: string[] };

const clock = performance.now;
afterEach(() => {
  performance.now = clock;
});

/** Moves the clock of this process, but not that of the model thread. */
function advance(ms: number): void {
  performance.now = () => clock.call(performance) + ms;
}

async function start({ endpoint, databaseUrl }: Fixture, model = 'first'): Promise<Started> {
  const lines: string[] = [];
  const env = {
    MEMORY_API_KEY: apiKey,
    LOG_LEVEL: 'debug',
    MEMORY_EMBEDDINGS: endpoint.url,
    MEMORY_EMBEDDINGS_MODEL: model,
    MEMORY_EMBEDDINGS_KEY: 'sk-secret',
  };
  const log = (line: string) => void lines.push(line);
  const running = await startServer({ env, port: 0, databaseUrl, log });
  return { running, client: new MemoryClient({ apiKey, baseUrl: running.url }), lines };
}

/** Runs a test with an endpoint and an empty database. */
async function withFixture(run: (fixture: Fixture) => Promise<void>): Promise<void> {
  await using endpoint = startEndpoint();
  const { url: databaseUrl, remove } = await emptyDatabase();
  await run({ endpoint, databaseUrl });
  await remove();
}

/** Searches until all memories have vectors. */
function embedded(
  client: MemoryClient,
  query: string,
  options?: Parameters<typeof until>[1],
): Promise<SearchAnswer> {
  return until(async () => {
    const answer = await client.search({ userId, query });
    return answer.meaning === 'used' ? answer : null;
  }, options);
}

test('the model of an endpoint finds a paraphrase; the key is sent, but not logged', () =>
  withFixture(async (fixture) => {
    const { running, client, lines } = await start(fixture);
    const { id } = await client.save({ userId, content: 'Allergic to peanuts' });
    const { items } = await embedded(client, question);
    expect(items).toMatchObject([{ id, matchedBy: 'meaning' }]);
    expect((await client.health()).embeddings).toMatchObject({ model: 'first' });
    await running.stop();
    const { requests } = fixture.endpoint;
    const shape = { model: 'first', encoding_format: 'float', authorization: 'Bearer sk-secret' };
    for (const request of requests) expect(request).toMatchObject(shape);
    expect(lines.join('\n')).not.toContain('sk-secret');
  }));

test('a question in another language finds a memory, also after a restart', () =>
  withFixture(async (fixture) => {
    const first = await start(fixture);
    const { id } = await first.client.save({ userId, content: 'Allergic to peanuts' });
    await first.client.save({ userId, content: 'Drives a red Toyota' });
    const query = 'какая еда ей вредна?';
    const matchedBy = 'meaning';
    expect((await embedded(first.client, query)).items[0]).toMatchObject({ id, matchedBy });
    await first.running.stop();
    const second = await start(fixture);
    expect((await embedded(second.client, query)).items[0]).toMatchObject({ id, matchedBy });
    await second.running.stop();
  }));

test('a search that would find nothing waits for a slow model', () =>
  withFixture(async (fixture) => {
    const { running, client } = await start(fixture);
    await client.save({ userId, content: 'Allergic to peanuts' });
    await embedded(client, question);
    const { endpoint } = fixture;
    const content = 'Drives a Toyota';
    endpoint.delayMs = ({ input }) => (input.includes(content) ? 500 : 0);
    await client.save({ userId, content });
    const { items } = await client.search({ userId, query: 'which car?' });
    await running.stop();
    expect(items).toMatchObject([{ content }]);
  }));

test('a new memory is embedded once, even if a search asks for it while it is embedded', () =>
  withFixture(async (fixture) => {
    const { running, client } = await start(fixture);
    const texts: string[] = [];
    for (let n = 0; n < 20; n += 1) {
      const content = `Drives a red Toyota since ${1_990 + n}`;
      texts.push(content);
      await client.save({ userId, content });
      if (n % 4 === 3) await client.search({ userId, query: `which car, ${n}?` });
    }
    await embedded(client, question);
    await running.stop();
    const sent = fixture.endpoint.requests.flatMap(({ input }) => input);
    expect(texts.map((text) => sent.filter((one) => one === text).length)).toEqual(
      texts.map(() => 1),
    );
  }));

test('the texts of many memories are sent in few requests', () =>
  withFixture(async (fixture) => {
    const { running, client } = await start(fixture);
    const items = Array.from({ length: 200 }, (_, at) => {
      return { type: 'event' as const, userId, data: { name: `Item ${at} of her food` } };
    });
    await client.ingest.batch({ items });
    await embedded(client, question, { timeoutMs: 40_000 });
    await running.stop();
    const requests = fixture.endpoint.requests.filter(({ input }) =>
      input.some((text) => text.startsWith('Item')),
    );
    expect(requests.flatMap(({ input }) => input.slice(1)).sort()).toEqual(
      items.map(({ data }) => data.name).sort(),
    );
    expect(requests.length).toBeLessThan(10);
  }));

test('vectors of another model, by name or behind the same name, are never used', () =>
  withFixture(async (fixture) => {
    const first = await start(fixture);
    const { id } = await first.client.save({ userId, content: 'Allergic to peanuts' });
    await first.client.save({ userId, content: 'Drives a red Toyota' });
    await embedded(first.client, question);
    await first.running.stop();
    const second = await start(fixture, 'second');
    const found = await embedded(second.client, question);
    expect(found.items[0]?.id).toBe(id);
    fixture.endpoint.seed = 1;
    // The cached vector of the old question is still compared with old vectors.
    expect(await second.client.search({ userId, query: question })).toEqual(found);
    const other = await second.client.search({ userId, query: 'which car?' });
    expect(other.meaning).toBe('unavailable');
    advance(31_000);
    const again = await embedded(second.client, 'which food is bad for her?');
    expect(again.items[0]?.id).toBe(id);
    expect((await embedded(second.client, question)).items[0]?.id).toBe(id);
    await second.running.stop();
    // After a restart, the model is recognized by the probe.
    fixture.endpoint.requests.length = 0;
    const third = await start(fixture, 'second');
    expect((await embedded(third.client, question)).items[0]?.id).toBe(id);
    await third.running.stop();
    const sent = fixture.endpoint.requests.flatMap(({ input }) => input);
    expect(new Set(sent)).toEqual(new Set([probe, question]));
  }));

test('when the model is replaced, all memories are embedded again at once', () =>
  withFixture(async (fixture) => {
    const first = await start(fixture);
    // A search embeds fewer by itself.
    for (let n = 0; n < 20; n += 1) await first.client.save({ userId, content: `Has ${n} cars` });
    await embedded(first.client, question);
    await first.running.stop();
    const second = await start(fixture, 'second');
    // A sweep would find them after a minute.
    await embedded(second.client, question, { timeoutMs: 30_000 });
    await second.running.stop();
  }));

test.each([400, 413, 422, 500])(
  'a text that the endpoint rejects with %i has no vector',
  (status) =>
    withFixture(async (fixture) => {
      const { endpoint } = fixture;
      const { running, client } = await start(fixture);
      endpoint.fault = ({ input }) =>
        input.some((text) => text.includes('endless')) ? new Response(null, { status }) : null;
      const data = { text: `${'endless '.repeat(120)}\n\nShe must avoid all nuts` };
      const accepted = await client.ingest.document({ userId, data });
      await client.waitUntilComplete(accepted.memoryId);
      const { id } = await client.save({ userId, content: 'Allergic to peanuts' });
      const { items } = await embedded(client, 'what should she avoid?');
      expect(items.map((one) => one.id).sort()).toEqual([accepted.memoryId, id].sort());
      // The rejected question does not turn off other searches by meaning.
      const query = 'an endless question';
      expect((await client.search({ userId, query })).meaning).toBe('off');
      const alone = await rejectionOf(client.search({ userId, query, mode: 'meaning' }));
      expect(alone).toMatchObject({ status: 400, message: expect.stringContaining('rejects it') });
      expect((await client.search({ userId, query: 'which food?' })).meaning).toBe('used');
      await running.stop();
    }),
);

test('what was embedded before the endpoint refused more requests is kept', () =>
  withFixture(async (fixture) => {
    const { endpoint } = fixture;
    const { running, client } = await start(fixture);
    const perRun = 3;
    let left = perRun;
    endpoint.fault = ({ input }) => {
      if (!input.some((text) => text.startsWith('Item'))) return null;
      left -= 1;
      if (left >= 0) return null;
      left = perRun;
      return new Response(null, { status: 429 });
    };
    const items = Array.from({ length: 150 }, (_, at) => {
      return { type: 'event' as const, userId, data: { name: `Item ${at} of her food` } };
    });
    await client.ingest.batch({ items });
    const { items: found } = await embedded(client, question, { timeoutMs: 40_000 });
    await running.stop();
    expect(found[0]?.matchedBy).toBe('both');
    const sent = endpoint.requests.flatMap(({ input }) => input);
    const repeated = items.filter(({ data }) => sent.filter((one) => one === data.name).length > 1);
    // Those of the request that was refused.
    expect(repeated).toHaveLength(31);
  }));

/** tests/embeddings has the other faults. */
const faultsOfKinds = ['does not answer', 'answers 500', 'answers with one vector for all texts'];

describe('while the endpoint', () => {
  test.each(faultsOfKinds)('%s, searches use words and saves succeed', (name) =>
    withFixture(async (fixture) => {
      const { running, client, lines } = await start(fixture);
      await client.save({ userId, content: 'Allergic to peanuts' });
      await embedded(client, question);
      fixture.endpoint.fault = faults[name] ?? null;
      const { id } = await client.save({ userId, content: 'Drives a red Toyota' });
      const begun = clock.call(performance);
      const broken = await client.search({ userId, query: 'which Toyota?' });
      expect(clock.call(performance) - begun).toBeLessThan(3_000);
      const { items } = await client.search({ userId, query: 'which Toyota?', mode: 'words' });
      expect(items.map((one) => one.id)).toEqual([id]);
      expect(broken).toEqual({ items, meaning: 'unavailable' });
      const path = '/v1/memories/search?userId=u&query=cars&mode=meaning';
      const headers = { authorization: `Bearer ${apiKey}` };
      const alone = await fetch(`${running.url}${path}`, { headers });
      expect([alone.status, alone.headers.get('retry-after')]).toEqual([503, '5']);
      expect((await client.health()).status).toBe('ok');
      await running.stop();
      expect(lines.join('\n')).not.toContain('sk-secret');
    }),
  );

  test('fails, it is asked again after a while', () =>
    withFixture(async (fixture) => {
      const { running, client } = await start(fixture);
      const { id } = await client.save({ userId, content: 'Drives a red Toyota' });
      await embedded(client, question);
      fixture.endpoint.fault = faults['answers 500'] ?? null;
      const ask = async (query: string) => (await client.search({ userId, query })).meaning;
      expect(await ask('which car?')).toBe('unavailable');
      const { length } = fixture.endpoint.requests;
      expect(await ask('what car?')).toBe('unavailable');
      expect(fixture.endpoint.requests).toHaveLength(length);
      fixture.endpoint.fault = null;
      advance(31_000);
      expect((await embedded(client, 'her car?')).items[0]?.id).toBe(id);
      await running.stop();
    }));

  test('asks to wait, it gets no requests', () =>
    withFixture(async (fixture) => {
      const { running, client } = await start(fixture);
      await client.save({ userId, content: 'Drives a red Toyota' });
      await embedded(client, question);
      fixture.endpoint.fault = faults['answers 429 and when to return'] ?? null;
      const ask = async (query: string) => (await client.search({ userId, query })).meaning;
      expect(await ask('which car?')).toBe('unavailable');
      const { length } = fixture.endpoint.requests;
      advance(31_000);
      expect(await ask('what car?')).toBe('unavailable');
      expect(fixture.endpoint.requests).toHaveLength(length);
      await running.stop();
    }));
});
