import { afterAll, afterEach, expect, test } from 'bun:test';
import { startEndpoint } from '../support/embeddings-endpoint.ts';
import { newUser } from '../support/http.ts';
import { searchByMeaning } from '../support/meaning.ts';
import { withServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { importable } from '../support/writes.ts';

/* In which order, and in how many requests, many memories get their vectors. */

const question = 'what food should I avoid?';
const content = 'Allergic to peanuts';
const car = 'Drives a red Toyota';

const endpoint = startEndpoint();
const server = await withServer({
  MEMORY_EMBEDDINGS: endpoint.url,
  MEMORY_EMBEDDINGS_MODEL: 'm',
});

afterEach(() => {
  endpoint.fault = null;
  endpoint.held = null;
  endpoint.requests.length = 0;
});
afterAll(() => endpoint[Symbol.asyncDispose]());

function embedded(userId: string, options?: { timeoutMs: number }) {
  return searchByMeaning(server.client, { userId, query: question }, options);
}

function sent(): string[] {
  return endpoint.requests.flatMap(({ input }) => input);
}

// To open the model takes several requests.
const opener = newUser();
await server.client.save({ userId: opener, content });
await embedded(opener);
endpoint.requests.length = 0;

test('the long texts of one user do not keep back the vectors of another', async () => {
  const [userId, other] = [newUser(), newUser()];
  const released = Promise.withResolvers<void>();
  endpoint.held = released.promise;
  for (let n = 0; n < 8; n += 1) {
    await server.client.save({ userId, content: `${n} ${'A long text. '.repeat(2_300)}` });
  }
  await until(() => sent().length > 0, { what: 'the first request' });
  await server.client.save({ userId: other, content: car });
  released.resolve();
  await until(() => sent().includes(car), { what: 'the memory of the other user' });
  // The texts of the first user have 240 chunks.
  expect(sent().indexOf(car)).toBeLessThan(150);
  await server.client.deleteAll({ userId });
});

async function importMany(userId: string, count: number, contents: string[] = []): Promise<void> {
  const items = Array.from({ length: count }, (_, n) => {
    const text = contents[n] ?? `Memory ${n} of ${userId}`;
    return { ...importable(userId), id: `mem_${userId}_${n}`, content: text };
  });
  expect((await server.client.import({ items })).imported).toBe(count);
}

/** Holds requests with a text that begins like this. Returns a function that lets them go on. */
function hold(beginning: string): () => void {
  const released = Promise.withResolvers<null>();
  endpoint.fault = ({ input }) =>
    input.some((text) => text.startsWith(beginning)) ? released.promise : null;
  return () => released.resolve(null);
}

test("the first of a user's many memories are found before the others have vectors", async () => {
  const userId = newUser();
  const release = hold('Memory 199 ');
  await importMany(userId, 200, [content]);
  await until(async () => {
    const { items } = await server.client.search({ userId, query: question });
    return items[0]?.matchedBy === 'meaning';
  });
  release();
  await embedded(userId);
});

test('the many memories of a user who is searched get vectors before those of others', async () => {
  const users = [newUser(), newUser(), newUser()];
  const release = hold('Memory ');
  for (const userId of users) await importMany(userId, 100);
  const [, , userId = ''] = users;
  expect((await server.client.search({ userId, query: question })).meaning).toBe('partial');
  release();
  const texts = () => sent().filter((text) => text.startsWith('Memory '));
  await until(() => texts().length === 300);
  // Those of the first user that were held come first.
  expect(texts().findLastIndex((text) => text.endsWith(userId))).toBeLessThan(200);
});

test('a text that the model refuses does not keep back others while its user is searched', async () => {
  const [userId, other] = [newUser(), newUser()];
  endpoint.fault = ({ input }) =>
    input.some((text) => text.endsWith(userId)) ? new Response(null, { status: 429 }) : null;
  await importMany(userId, 100);
  const search = () => server.client.search({ userId, query: question });
  await until(async () => {
    await search();
    return sent().some((text) => text.endsWith(userId));
  });
  await server.client.save({ userId: other, content: other });
  await until(
    async () => {
      await search();
      return sent().includes(other);
    },
    { timeoutMs: 40_000 },
  );
  await server.client.deleteAll({ userId });
});

/** Ingests records of one user together. */
async function ingestMany(count: number) {
  const userId = newUser();
  const names = Array.from({ length: count }, (_, at) => `Item ${at} of the food of ${userId}`);
  const items = names.map((name) => ({ type: 'event' as const, userId, data: { name } }));
  await server.client.ingest.batch({ items });
  return { userId, names };
}

test('the texts of many memories are sent in few requests', async () => {
  const { userId, names } = await ingestMany(200);
  await embedded(userId, { timeoutMs: 40_000 });
  const requests = endpoint.requests.filter(({ input }) =>
    input.some((text) => names.includes(text)),
  );
  expect(requests.flatMap(({ input }) => input.slice(1)).sort()).toEqual(names.toSorted());
  expect(requests.length).toBeLessThan(10);
});

test('what was embedded before the endpoint refused more requests is kept', async () => {
  const perRun = 3;
  let left = perRun;
  endpoint.fault = ({ input }) => {
    if (!input.some((text) => text.startsWith('Item'))) return null;
    left -= 1;
    if (left >= 0) return null;
    left = perRun;
    return new Response(null, { status: 429 });
  };
  const { userId, names } = await ingestMany(150);
  const isDone = async () => (await server.client.health()).embeddings.pending === 0;
  await until(isDone, { timeoutMs: 40_000 });
  expect((await embedded(userId)).items[0]?.matchedBy).toBe('both');
  // Those of the request that was refused.
  const all = sent();
  expect(names.filter((name) => all.filter((one) => one === name).length > 1)).toHaveLength(31);
});
