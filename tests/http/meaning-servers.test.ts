import { expect, test } from 'bun:test';
import { MemoryClient } from '../../sdk/index.ts';
import { startServer } from '../../server/main.ts';
import { startEndpoint } from '../support/embeddings-endpoint.ts';
import { newDatabase, query } from '../support/postgres.ts';
import { until } from '../support/until.ts';

/* Several servers on one database, while the model changes. */

const apiKey = 'a-key-for-tests-1234';
const userId = 'u';
const car = 'Drives a red Toyota';

test('the server that starts last chooses the model, and others search by words', async () => {
  await using endpoint = startEndpoint();
  const { url: databaseUrl, drop } = await newDatabase();

  async function start(model: string) {
    const lines: string[] = [];
    const env = {
      MEMORY_API_KEY: apiKey,
      MEMORY_EMBEDDINGS: endpoint.url,
      MEMORY_EMBEDDINGS_MODEL: model,
    };
    const log = (line: string) => void lines.push(line);
    const { url, stop } = await startServer({ env, port: 0, databaseUrl, log });
    const client = new MemoryClient({ apiKey, baseUrl: url });
    const meaningOf = async (text: string) => {
      return (await client.search({ userId, query: text })).meaning;
    };
    const embedded = () =>
      until(async () => (await meaningOf('which car?')) === 'used', { timeoutMs: 20_000 });
    return { client, lines, stop, meaningOf, embedded };
  }

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
  await second.client.save({ userId, content: 'Allergic to peanuts' });
  await first.embedded();
  const warning = 'another server has changed the model to present';
  const isWarned = () => second.lines.some((line) => line.includes(warning));
  await until(isWarned, { what: 'the warning' });
  expect(await second.meaningOf('which vehicle?')).toBe('unavailable');
  const present = await query(databaseUrl, 'SELECT name FROM models WHERE is_present = 1');
  expect(present.map(({ name }) => name)).toEqual(['present']);
  await second.stop();
  second = await start('present');
  await second.embedded();
  await Promise.all([first.stop(), second.stop()]);
  await drop();
});
