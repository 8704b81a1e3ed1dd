import { expect, test } from 'bun:test';
import { beginSave, newUser } from '../support/http.ts';
import { readMetrics } from '../support/metrics.ts';
import { send, withServer } from '../support/server.ts';
import { until } from '../support/until.ts';

const server = await withServer();
const clients = 8;
const rounds = 3;
const stoppedWithinMs = 12_000;

async function contentsOf(userId: string): Promise<string[]> {
  const items = await Array.fromAsync(server.client.export({ userId }));
  return items.map(({ content }) => content).sort();
}

async function isClosed({ hostname, port }: URL): Promise<boolean> {
  try {
    (await Bun.connect({ hostname, port: Number(port), socket: { data() {} } })).end();
    return false;
  } catch {
    return true;
  }
}

test('a write whose body arrives after the stop has begun is answered and stored', async () => {
  const { url } = server;
  const userId = newUser();
  const finish = await beginSave(server, userId);
  const inFlight = async () => (await readMetrics(server)).get('memory_http_requests_in_flight');
  await until(async () => (await inFlight()) === 1, { what: 'the request' });
  const restarted = server.restart();
  await until(() => isClosed(new URL(url)), { what: 'the closed port' });
  expect(await finish('late')).toBe(201);
  await restarted;
  expect(await contentsOf(userId)).toEqual(['late']);
});

test('a stop under load loses no acknowledged write, and stores none that was not answered', async () => {
  const userId = newUser();
  const answered: string[] = [];
  async function saveUntilStopped(name: string): Promise<void> {
    for (let count = 0; ; count += 1) {
      const content = `${name} ${count} ${'word '.repeat(200)}`;
      const body = { userId, content };
      const reply = await send(server, 'POST', '/v1/memories', { body }).catch(() => null);
      if (reply?.status !== 201) return;
      answered.push(content);
    }
  }
  for (let round = 0; round < rounds; round += 1) {
    const before = answered.length;
    const load = Array.from({ length: clients }, (_, at) => saveUntilStopped(`${round}-${at}`));
    await until(() => answered.length > before + 3 * clients, { what: 'saves' });
    const begun = performance.now();
    await server.restart(async () => void (await Promise.all(load)));
    expect(performance.now() - begun).toBeLessThan(stoppedWithinMs);
  }
  expect(await contentsOf(userId)).toEqual(answered.sort());
});
