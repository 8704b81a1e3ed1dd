import { expect, spyOn, test } from 'bun:test';
import { join } from 'node:path';
import {
  AbortError,
  InvalidRequestError,
  TimeoutError,
  WaitTimeoutError,
} from '../../sdk/index.ts';
import { aMemory, json, silent, stalled, startFaultServer } from '../support/fault-server.ts';
import { clientOf, failure } from './client-of.ts';

for (const [fault, reply] of Object.entries({ 'no reply': silent, 'half a body': stalled })) {
  test(`the signal ends a call that gets ${fault}`, async () => {
    using server = startFaultServer(reply);
    const controller = new AbortController();
    const client = clientOf(server, { maxRetries: 0 });
    const call = client.get('mem_1', { signal: controller.signal });
    server.answered.then(() => controller.abort('enough'));
    const error = await failure(call);
    expect(error).toBeInstanceOf(AbortError);
    expect(error).toMatchObject({ name: 'AbortError', attempts: 1, cause: 'enough' });
  });
}

test('a call with an aborted signal sends nothing', async () => {
  using server = startFaultServer(json(200, aMemory));
  const error = await failure(clientOf(server).get('mem_1', { signal: AbortSignal.abort() }));
  expect(error).toBeInstanceOf(AbortError);
  expect(error.attempts).toBe(0);
  expect(server.requests).toHaveLength(0);
});

test('an infinite timeoutMs does not expire immediately', async () => {
  const found = json(200, aMemory);
  using server = startFaultServer((socket) => setTimeout(() => found(socket), 20));
  const client = clientOf(server, { maxRetries: 0, timeoutMs: Number.POSITIVE_INFINITY });
  expect(await client.get('mem_1')).toMatchObject({ id: 'mem_1' });
});

test('by default, an attempt may take 30 s and a wait 60 s, and an option may be a day', async () => {
  using server = startFaultServer(json(200, { ...aMemory, memoryId: 'mem_1' }));
  using set = spyOn(globalThis, 'setTimeout');
  const day = 86_400_000;
  await clientOf(server).get('mem_1', { timeoutMs: day });
  await clientOf(server).waitUntilComplete('mem_1');
  const delays = set.mock.calls.map(([, ms]) => ms);
  for (const ms of [day, 30_000, 60_000]) expect(delays).toContain(ms);
});

test('a completed call leaves no timer that keeps the process alive', async () => {
  using server = startFaultServer(json(200, aMemory));
  const program = `
    import { MemoryClient } from './sdk/index.ts';
    const options = { baseUrl: '${server.url}', apiKey: 'k', timeoutMs: 60_000 };
    const client = new MemoryClient(options);
    console.log((await client.get('mem_1')).id);`;
  const cwd = join(import.meta.dir, '../..');
  const child = Bun.spawn([process.execPath, '-e', program], { cwd, timeout: 20_000 });
  expect(await child.exited).toBe(0);
  expect(await child.stdout.text()).toBe('mem_1\n');
});

test('timeoutMs of a call or a wait may be 1, but not less', async () => {
  using server = startFaultServer(silent);
  const client = clientOf(server, { maxRetries: 0 });
  for (const timeoutMs of [0, 0.5, -1, Number.NaN]) {
    const waiting = client.waitUntilComplete('mem_1', { timeoutMs });
    for (const call of [client.get('mem_1', { timeoutMs }), waiting]) {
      const error = await failure(call);
      expect(error).toBeInstanceOf(InvalidRequestError);
      expect(error.message).toBe('timeoutMs must be at least 1');
    }
  }
  expect(server.requests).toHaveLength(0);
  const late = await failure(client.get('mem_1', { timeoutMs: 1 }));
  expect(late).toBeInstanceOf(TimeoutError);
  expect(late.message).toContain('1 ms');
  const stillWaiting = await failure(client.waitUntilComplete('mem_1', { timeoutMs: 1 }));
  expect(stillWaiting).toBeInstanceOf(WaitTimeoutError);
});
