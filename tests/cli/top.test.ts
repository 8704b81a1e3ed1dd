import { describe, expect, test } from 'bun:test';
import type { Load } from '../../cli/client/load.ts';
import { save } from '../support/http.ts';
import { freePort } from '../support/process.ts';
import { startTestServer, withProject } from '../support/server.ts';
import { until } from '../support/until.ts';
import { expectRan, lines, memory, memoryAt, type Surroundings } from './command.ts';
import { startService } from './service.ts';

const server = await withProject();

const once = ['top', '--interval', '1', '--count', '1'];
const top = (argv: string[], around: Surroundings = {}) => memoryAt(server)(argv, around);

/** Runs the command while memories are saved, at most twenty in a second. */
async function underLoad<T>(command: Promise<T>): Promise<T> {
  let isDone = false;
  const ended = command.finally(() => {
    isDone = true;
  });
  while (!isDone) await Promise.all([save(server, 'u'), Bun.sleep(50)]);
  return ended;
}

test('a pipe receives a line for each reading, with tab-separated values', async () => {
  const { code, stdout, stderr } = await underLoad(top(['top', '--interval', '1', '--count', '2']));
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const rows = lines(stdout).map((line) => line.split('\t'));
  expect(rows.map((row) => row.length)).toEqual([9, 9]);
  for (const [time = '', rate, p50, p99, failed, cores, bytes, waiting] of rows) {
    expect(Date.parse(time)).toBeGreaterThan(0);
    for (const value of [rate, p50, p99, cores, bytes]) expect(Number(value)).toBeGreaterThan(0);
    expect([failed, waiting]).toEqual(['0.00', '0']);
  }
});

test('--json prints an object with the figures of each route', async () => {
  const { stdout } = await underLoad(top([...once, '--json']));
  const load = JSON.parse(stdout) as Load;
  expect(load.healthy).toBe(true);
  expect(load.writesPerSecond).toBeGreaterThan(0);
  const [route] = load.routes;
  expect(route).toMatchObject({ method: 'POST', route: '/v1/memories' });
  expect(route?.p99Ms).toBeGreaterThanOrEqual(route?.p50Ms ?? Number.NaN);
});

describe('on a terminal', () => {
  test('a screen shows the load, and the last one stays on the terminal', async () => {
    const { code, stdout } = await underLoad(top(once, { terminal: 90 }));
    const [last = '', ...before] = stdout.replaceAll('\x1b[K', '').split('\x1b[H').toReversed();
    expect({ code, screens: before.length }).toEqual({ code: 0, screens: 2 });
    expect(last).toStartWith(`${server.url}   `);
    expect(last).toMatch(/^POST \/v1\/memories +[\d.,]+ +[\d.,]+ ms +[\d.,]+ ms$/m);
    expect(last).toMatch(/^queue {6}0 waiting, 0 running, \d+ failed, oldest 0 s$/m);
    expect(last).toEndWith('\nPress Ctrl-C to quit.\n\x1b[J');
    for (const line of last.split('\n')) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(90);
  });

  test('narrower than the names of the figures, it shows that they are cut', async () => {
    const { code, stdout } = await top(once, { terminal: 8 });
    expect(code).toBe(0);
    expect(stdout).toContain('queue      …');
  });

  test('a server that is restarted is shown again', async () => {
    await using own = await startTestServer({}, [], { port: freePort() });
    let seen = '';
    const interruption = new AbortController();
    const running = memory(['top', '--interval', '1', '--base-url', own.url], {
      terminal: 90,
      interrupted: interruption.signal,
      onOutput: (text) => {
        seen += text;
      },
    });
    await until(() => seen.includes('healthy'), { what: 'the first screen' });
    await own.restart(async () => {
      seen = '';
      await until(() => /: .*[Rr]efused|: .*connect/.test(seen), { what: 'the failure' });
    });
    await until(() => seen.includes('healthy'), { what: 'the second screen' });
    interruption.abort('SIGINT');
    expect(await running).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('a failure is explained', () => {
  test('without a key for metrics, through a proxy, exit 4', async () => {
    await using proxy = startService(({ url, headers }) => {
      const sent = new Headers(headers);
      sent.set('x-forwarded-for', '192.0.2.1');
      return fetch(server.url + new URL(url).pathname, { headers: sent });
    });
    const argv = [...once, '--base-url', proxy.env.MEMORY_BASE_URL];
    expectRan(await top(argv), 4, 'only to a key for metrics', 'memory keys create --metrics');
    const key = await server.createKey('default', { metricsOnly: true });
    expect(await top(argv, { env: { MEMORY_API_KEY: key } })).toMatchObject({ code: 0 });
  });

  test('with MEMORY_METRICS=off, and exit 5 if there is no server', async () => {
    await using own = await startTestServer({ MEMORY_METRICS: 'off' });
    expectRan(await memoryAt(own)(once), 1, 'no metrics at');
    expectRan(await memory([...once, '--base-url', 'http://127.0.0.1:1']), 5, 'refused');
  });
});
