import { afterAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { startEndpoint } from '../support/embeddings-endpoint.ts';
import { searchByMeaning } from '../support/meaning.ts';
import { newDatabase, query } from '../support/postgres.ts';
import { startTestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { endsModel } from './faulty-model.ts';

const apiKey = 'a-key-for-tests-1234';
const userId = 'u';
const car = 'Drives a red Toyota';
const preload = [join(import.meta.dir, 'faulty-model.ts')];
const endpoint = startEndpoint();
afterAll(() => endpoint[Symbol.asyncDispose]());

/** Returns how to start a server with a model of the endpoint, or null for the built-in one. */
async function withDatabase() {
  const { url: databaseUrl, drop } = await newDatabase();
  const stops = new Set<() => Promise<void>>();
  endpoint.requests.length = 0;
  endpoint.delayMs = () => 0;
  endpoint.seed = 0;

  async function start(model: string | null) {
    const lines: string[] = [];
    const env = {
      MEMORY_API_KEY: apiKey,
      LOG_LEVEL: 'warn',
      MEMORY_EMBEDDINGS: model === null ? 'local' : endpoint.url,
      ...(model !== null && { MEMORY_EMBEDDINGS_MODEL: model }),
    };
    const log = (line: string) => void lines.push(line);
    const { client, stop: end } = await startTestServer(env, preload, { databaseUrl, log });
    const stop = () => (stops.delete(stop) ? end() : Promise.resolve());
    stops.add(stop);
    const meaningOf = async (text: string) => {
      return (await client.search({ userId, query: text })).meaning;
    };
    const embedded = () =>
      searchByMeaning(client, { userId, query: 'which car?' }, { timeoutMs: 20_000 });
    const warning = 'another server has changed the model to present';
    const warned = () =>
      until(() => lines.some((line) => line.includes(warning)), { what: 'the warning' });
    return { client, stop, meaningOf, embedded, warned };
  }

  /** Returns the names of all models that have been used, and the present one first. */
  async function models() {
    const text = 'SELECT name FROM models ORDER BY is_present DESC, model_id';
    const rows = await query(databaseUrl, text);
    return rows.map(({ name }) => name);
  }

  const dispose = () => Promise.all([...stops].map((stop) => stop())).then(drop);
  return { start, models, [Symbol.asyncDispose]: dispose };
}

function requestsOf(model: string) {
  return endpoint.requests.filter((request) => request.model === model).length;
}

test('the server that starts last chooses the model, and others search by words', async () => {
  await using database = await withDatabase();
  const { start, models } = database;
  let first = await start('former');
  let second = await start('former');
  await first.client.save({ userId, content: car });
  await first.embedded();
  await first.stop();
  // While the first server embeds with another model, the second gets work.
  const isRenewed = ({ model, input }: { model: string; input: string[] }) =>
    model === 'present' && input.includes(car);
  endpoint.delayMs = (request) => (isRenewed(request) ? 1_000 : 0);
  first = await start('present');
  await until(() => endpoint.requests.some(isRenewed), { what: 'the work of the first server' });
  const before = requestsOf('former');
  await second.client.save({ userId, content: 'Allergic to peanuts' });
  await first.embedded();
  await second.warned();
  expect(await second.meaningOf('which vehicle?')).toBe('unavailable');
  expect(requestsOf('former')).toBe(before);
  expect(await models()).toEqual(['present', 'former']);
  await second.stop();
  second = await start('present');
  await second.embedded();
});

test('a server without work notices that another has changed the model', async () => {
  await using database = await withDatabase();
  const { start } = database;
  let first = await start('former');
  const second = await start('former');
  const memory = await first.client.save({ userId, content: car });
  await first.embedded();
  await second.embedded();
  await first.stop();
  first = await start('present');
  await first.embedded();
  // An import without a valid item makes the second server sweep now instead of within a minute.
  const invalid = { ...memory, content: '' };
  expect((await second.client.import({ items: [invalid] })).failedCount).toBe(1);
  await second.warned();
  expect(await second.meaningOf('which car?')).toBe('unavailable');
});

test('a server that loads its model later than a newer one does not replace it', async () => {
  await using database = await withDatabase();
  const { start, models } = database;
  const older = await start(null);
  const newer = await start('present');
  // Otherwise, the older server might be the first to embed the memory.
  await until(async () => (await models()).length === 1, { what: 'the newer model' });
  await newer.client.save({ userId, content: car });
  await newer.embedded();
  expect(await older.meaningOf('which vehicle?')).toBe('unavailable');
  expect(await older.meaningOf(endsModel)).toBe('unavailable');
  // The first sweep of the new model thread.
  await older.warned();
  expect(await older.meaningOf('any vehicle?')).toBe('unavailable');
  expect(await models()).toEqual(['present']);
});

test('a new model thread may replace the model of the one before', async () => {
  await using database = await withDatabase();
  const { start, models } = database;
  const only = await start('former');
  await only.client.save({ userId, content: car });
  await only.embedded();
  endpoint.seed = 1;
  await only.meaningOf(endsModel);
  await until(async () => (await models()).length === 2, { what: 'the other model' });
});
