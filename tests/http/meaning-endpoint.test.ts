import { afterAll, afterEach, describe, expect, test } from 'bun:test';
import { probe } from '../../server/embeddings/calibration.ts';
import { faults, startEndpoint } from '../support/embeddings-endpoint.ts';
import { ask, newUser } from '../support/http.ts';
import { searchByMeaning } from '../support/meaning.ts';
import { withServer } from '../support/server.ts';
import { rejectionOf } from '../support/thrown.ts';
import { until } from '../support/until.ts';

const question = 'what food should I avoid?';
const content = 'Allergic to peanuts';
const car = 'Drives a red Toyota';

const endpoint = startEndpoint();
const model = { MEMORY_EMBEDDINGS_MODEL: 'first', MEMORY_EMBEDDINGS_KEY: 'sk-secret' };
const env = { LOG_LEVEL: 'debug', MEMORY_EMBEDDINGS: endpoint.url, ...model };
const lines: string[] = [];
const server = await withServer(env, [], { log: (line) => void lines.push(line) });

/** How far the clock of this process, but not that of the model thread, is ahead. */
let aheadMs = 0;
const clock = performance.now;
performance.now = () => clock.call(performance) + aheadMs;
/** After a fault, the endpoint is not asked for 30 seconds. */
const breakMs = 31_000;

afterEach(() => {
  endpoint.fault = null;
  endpoint.delayMs = () => 0;
  endpoint.held = null;
  endpoint.requests.length = 0;
  aheadMs += breakMs;
});
afterAll(async () => {
  performance.now = clock;
  await endpoint[Symbol.asyncDispose]();
  expect(lines.join('\n')).not.toContain('sk-secret');
});

function embedded(userId: string, query: string, options?: { timeoutMs: number }) {
  return searchByMeaning(server.client, { userId, query }, options);
}

/** Returns a new user with a memory that has a vector. */
async function newEmbedded(content: string): Promise<string> {
  const userId = newUser();
  await server.client.save({ userId, content });
  await embedded(userId, question);
  return userId;
}

/** Returns a function that searches as a new user, and returns whether the model was used. */
async function newAsker() {
  const userId = await newEmbedded(car);
  return async (query: string) => (await server.client.search({ userId, query })).meaning;
}

function sent(): string[] {
  return endpoint.requests.flatMap(({ input }) => input);
}

test('the model of an endpoint finds a paraphrase, with the key', async () => {
  const userId = newUser();
  const { id } = await server.client.save({ userId, content });
  const { items } = await embedded(userId, question);
  expect(items).toMatchObject([{ id, matchedBy: 'meaning' }]);
  expect((await server.client.health()).embeddings).toMatchObject({ model: 'first' });
  const shape = { model: 'first', encoding_format: 'float', authorization: 'Bearer sk-secret' };
  for (const request of endpoint.requests) expect(request).toMatchObject(shape);
});

test('vectors of another model, by name or behind the same name, are used by no server', async () => {
  const [userId, other] = [newUser(), newUser()];
  const { id } = await server.client.save({ userId, content });
  await server.client.save({ userId, content: car });
  // A search embeds fewer by itself.
  for (let n = 0; n < 20; n += 1)
    await server.client.save({ userId: other, content: `Has ${n} cars` });
  const inRussian = 'какая еда ей вредна?';
  const first = async (query: string) => (await embedded(userId, query)).items[0];
  const found = { id, matchedBy: 'meaning' };
  expect(await first(inRussian)).toMatchObject(found);
  await embedded(other, question);
  env.MEMORY_EMBEDDINGS_MODEL = 'second';
  await server.restart();
  // A sweep would find these after a minute.
  await embedded(other, question, { timeoutMs: 30_000 });
  const answer = await embedded(userId, question);
  expect(answer.items[0]?.id).toBe(id);
  endpoint.seed = 1;
  // The cached vector of the old question is still compared with old vectors.
  expect(await server.client.search({ userId, query: question })).toEqual(answer);
  expect((await server.client.search({ userId, query: 'which car?' })).meaning).toBe('unavailable');
  aheadMs += breakMs;
  expect((await first('which food is bad for her?'))?.id).toBe(id);
  expect((await first(question))?.id).toBe(id);
  await until(async () => (await server.client.health()).embeddings.pending === 0);
  // After a restart, the model is recognized by the probe.
  await server.restart(async () => void endpoint.requests.splice(0));
  expect(await first(question)).toMatchObject(found);
  expect(await first(inRussian)).toMatchObject(found);
  expect(new Set(sent())).toEqual(new Set([probe, question, inRussian]));
});

test('a search that would find nothing waits for a slow model', async () => {
  const userId = await newEmbedded(content);
  endpoint.delayMs = ({ input }) => (input.includes(car) ? 500 : 0);
  await server.client.save({ userId, content: car });
  const { items } = await server.client.search({ userId, query: 'what kind of car?' });
  expect(items).toMatchObject([{ content: car }]);
});

test('a search that has found something waits for a new memory that takes 200 ms', async () => {
  endpoint.delayMs = ({ input }) => (input.some((text) => text.startsWith(car)) ? 200 : 0);
  const answers: string[] = [];
  for (let n = 0; n < 3; n += 1) {
    const userId = await newEmbedded(content);
    await server.client.save({ userId, content: `${car} since ${1_950 + n}` });
    answers.push((await server.client.search({ userId, query: question })).meaning);
  }
  // On a busy machine, some searches are answered before.
  expect(answers).toContain('used');
});

test('a new memory is embedded once, even if a search asks for it while it is embedded', async () => {
  const userId = newUser();
  const texts = Array.from({ length: 20 }, (_, n) => `${car} since ${1_990 + n}`);
  for (const [n, text] of texts.entries()) {
    await server.client.save({ userId, content: text });
    if (n % 4 === 3) await server.client.search({ userId, query: `which car, ${n}?` });
  }
  await embedded(userId, question);
  const times = texts.map((text) => sent().filter((one) => one === text).length);
  expect(times).toEqual(texts.map(() => 1));
});

test.each([400, 413, 422, 500])('a text rejected with %i has no vector', async (status) => {
  const userId = newUser();
  endpoint.fault = ({ input }) =>
    input.some((text) => text.includes('endless')) ? new Response(null, { status }) : null;
  const data = { text: `${'endless '.repeat(120)}\n\nShe must avoid all nuts` };
  const accepted = await server.client.ingest.document({ userId, data });
  await server.client.waitUntilComplete(accepted.memoryId);
  const { id } = await server.client.save({ userId, content });
  const { items } = await embedded(userId, 'what should she avoid?');
  expect(items.map((one) => one.id).sort()).toEqual([accepted.memoryId, id].sort());
  // The rejected question does not turn off other searches by meaning.
  const query = `an endless question, ${status}`;
  expect((await server.client.search({ userId, query })).meaning).toBe('off');
  const alone = await rejectionOf(server.client.search({ userId, query, mode: 'meaning' }));
  expect(alone).toMatchObject({ status: 400, message: expect.stringContaining('rejects it') });
  const next = await server.client.search({ userId, query: `which food, ${status}?` });
  expect(next.meaning).toBe('used');
});

/** tests/embeddings has the other faults. After the last, the model thread waits for an answer. */
const faultsOfKinds = ['answers 500', 'answers with one vector for all texts', 'does not answer'];

describe('while the endpoint', () => {
  test.each(faultsOfKinds)('%s, searches use words and saves succeed', async (name) => {
    const userId = await newEmbedded(content);
    endpoint.fault = faults[name] ?? null;
    const { id } = await server.client.save({ userId, content: car });
    const begun = clock.call(performance);
    const query = `which Toyota ${name}?`;
    const broken = await server.client.search({ userId, query });
    expect(clock.call(performance) - begun).toBeLessThan(3_000);
    const { items } = await server.client.search({ userId, query, mode: 'words' });
    expect(items.map((one) => one.id)).toEqual([id]);
    expect(broken).toEqual({ items, meaning: 'unavailable' });
    const path = `/v1/memories/search?userId=${userId}&query=cars+${name}&mode=meaning`;
    const alone = await ask(server, 'GET', path);
    expect([alone.status, alone.headers.get('retry-after')]).toEqual([503, '5']);
    expect((await server.client.health()).status).toBe('ok');
  });

  test('gets more questions than it can answer, it answers some and is asked on', async () => {
    const meaningOf = await newAsker();
    endpoint.delayMs = () => 100;
    const asked = Array.from({ length: 60 }, (_, n) => meaningOf(`does she own car number ${n}?`));
    const answered = (await Promise.all(asked)).filter((meaning) => meaning === 'used');
    // Eight at a time, until half of the second has passed that a question may take.
    expect(answered.length).toBeWithin(8, 8 * 6);
    endpoint.delayMs = () => 0;
    expect(await meaningOf('and which one does she drive?')).toBe('used');
  });

  test('hangs after a change of its model, searches soon wait for it no more', async () => {
    const meaningOf = await newAsker();
    endpoint.seed += 1;
    expect(await meaningOf('which nuts are they?')).toBe('unavailable');
    const released = Promise.withResolvers<void>();
    endpoint.held = released.promise;
    aheadMs += breakMs;
    await Promise.all(
      Array.from({ length: 8 }, (_, n) => meaningOf(`does she eat nut number ${n}?`)),
    );
    aheadMs += breakMs;
    await meaningOf('which nuts does she eat?');
    const begun = clock.call(performance);
    const meaning = await meaningOf('and which fruit?');
    const waitedMs = clock.call(performance) - begun;
    released.resolve();
    expect(meaning).toBe('unavailable');
    expect(waitedMs).toBeLessThan(400);
  });

  // The wait is the last test, because the model thread obeys.
  test.each<[what: string, fault: string, later: 'used' | 'unavailable']>([
    ['fails, it is asked again after a while', 'answers 500', 'used'],
    ['asks to wait, it gets no requests', 'answers 429 and when to return', 'unavailable'],
  ])('%s', async (_, fault, later) => {
    const meaningOf = await newAsker();
    endpoint.fault = faults[fault] ?? null;
    expect(await meaningOf(`which vehicle ${fault}?`)).toBe('unavailable');
    const { length } = endpoint.requests;
    const second = `what vehicle ${fault}?`;
    expect(await meaningOf(second)).toBe('unavailable');
    endpoint.fault = null;
    aheadMs += breakMs;
    const third = `her car ${fault}?`;
    expect(await meaningOf(third)).toBe(later);
    // After a failure, the background may try again.
    expect(sent()).not.toContain(second);
    if (later === 'used') expect(sent()).toContain(third);
    else expect(endpoint.requests).toHaveLength(length);
  });
});
