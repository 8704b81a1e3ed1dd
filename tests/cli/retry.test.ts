import { expect, test } from 'bun:test';
import { aMemory, json, refusal, startFaultServer } from '../support/fault-server.ts';
import { memory } from './command.ts';

/* What is said while a command waits to try again. */

const around = (url: string) => ({ env: { MEMORY_API_KEY: 'k', MEMORY_BASE_URL: url } });

test('a wait for the rate limit is told before it begins', async () => {
  using server = startFaultServer(
    refusal(429, 'rate_limited', { 'Retry-After': '2' }),
    json(200, aMemory),
  );
  const { code, stderr } = await memory(['get', 'mem_1'], around(server.url));
  expect(stderr).toBe('Rate limit reached; trying again in 2 s.\n');
  expect(code).toBe(0);
});

test('so is another one; a short wait is not worth a line', async () => {
  using server = startFaultServer(
    refusal(503, 'unavailable', { 'Retry-After': '2' }),
    refusal(503, 'unavailable', { 'Retry-After': '0' }),
    json(200, aMemory),
  );
  const { stderr } = await memory(['get', 'mem_1', '--json'], around(server.url));
  expect(stderr).toBe('The service cannot answer yet (503); trying again in 2 s.\n');
});

test('ingest batch says it once, however many requests wait', async () => {
  using server = startFaultServer(refusal(429, 'rate_limited', { 'Retry-After': '3' }));
  const record = JSON.stringify({ type: 'event', userId: 'u', data: { name: 'x' } });
  const stdin = `${record}\n`.repeat(2_000);
  const interruption = new AbortController();
  const running = memory(['ingest', 'batch', '-'], {
    ...around(server.url),
    stdin,
    interrupted: interruption.signal,
    onOutput: (text) => {
      if (text.startsWith('Rate')) setTimeout(() => interruption.abort('SIGINT'), 500);
    },
  });
  const { stderr } = await running;
  expect(stderr.match(/Rate limit reached; trying again in 3 s\./g)).toHaveLength(1);
});
