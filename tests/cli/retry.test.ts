import { expect, test } from 'bun:test';
import * as faults from '../support/fault-server.ts';
import { event, expectRan, memory, type Surroundings } from './command.ts';

const { aMemory, dropped, json, refusal, startFaultServer, text } = faults;

const around = (url: string) => ({ env: { MEMORY_API_KEY: 'k', MEMORY_BASE_URL: url } });
const get = ({ url }: { url: string }, ...more: string[]) =>
  memory(['get', 'mem_1', ...more], around(url));
const batch = ({ url }: { url: string }, more: Surroundings = {}) =>
  memory(['ingest', 'batch', '-'], { ...around(url), stdin: event('u', 'x'), ...more });

function busy(message: string) {
  return json(429, { error: 'rate_limited', message, requestId: 'r' }, { 'Retry-After': '2' });
}
const limit = 'more than 6000 requests in 60 seconds';
const queue = 'more than 100000 records would be pending';

test.concurrent.each([
  ['the rate limit', busy(`${limit}; try again in 2 s`), `More${limit.slice(4)}; try again in 2 s`],
  ['a full queue', busy(`${queue}; try again later`), `More${queue.slice(4)}; try again later`],
])('a wait for %s is reported with its reason before it begins', async (_, reply, why) => {
  using server = startFaultServer(reply, json(200, aMemory));
  const stderr = `${why}. Retrying in 2 s.\n`;
  expect(await get(server)).toMatchObject({ code: 0, stderr });
});

test.concurrent.each([429, 503])(
  'a long wait for a proxy is reported with its status, but a short one is not',
  async (status) => {
    const [long, short] = ['2', '0'].map((after) => text(status, '', { 'Retry-After': after }));
    using server = startFaultServer(long ?? dropped, short ?? dropped, json(200, aMemory));
    const { code, stderr } = await get(server, '--json');
    expect(stderr).toMatch(new RegExp(`^.*${status}.*\\. Retrying in 2 s\\.\n$`));
    expect(code).toBe(0);
  },
);

test.concurrent.each(['2592000', 'Fri, 31 Dec 9999 23:59:59 GMT', '9'.repeat(20)])(
  'a batch is not sent again at once after Retry-After: %s',
  async (after) => {
    using server = startFaultServer(refusal(429, 'rate_limited', { 'Retry-After': after }));
    const reported = Promise.withResolvers<void>();
    const interruption = new AbortController();
    const onOutput = () => reported.resolve();
    const running = batch(server, { interrupted: interruption.signal, onOutput });
    await reported.promise;
    for (let other = 0; other < 50; other += 1) await fetch(server.url);
    interruption.abort('SIGINT');
    expectRan(await running, 130, 'It is rate_limited. Retrying in 2147484 s.\n');
    expect(server.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  },
);

test.concurrent('ingest batch reports a wait once, even if several requests wait', async () => {
  using server = startFaultServer(refusal(429, 'rate_limited', { 'Retry-After': '3' }));
  const stdin = `${event('u', 'x')}\n`.repeat(2_000);
  const interruption = new AbortController();
  const onOutput = (text: string) => {
    if (text.startsWith('It is')) setTimeout(() => interruption.abort('SIGINT'), 500);
  };
  const { stderr } = await batch(server, { stdin, interrupted: interruption.signal, onOutput });
  expect(stderr.match(/It is rate_limited\. Retrying in 3 s\./g)).toHaveLength(1);
});

const accepted = json(202, { accepted: 1, failedCount: 0, items: [], failed: [] });

test.concurrent.each([
  ['lost connections', dropped, 'Cannot reach \\S+ \\(.* unexpectedly\\)\\.'],
  ['responses of a proxy', text(502, ''), 'The service returned 502\\.'],
])('a batch is continued after %s that outlast the retries of a request', async (_, away, why) => {
  using server = startFaultServer(accepted, away, away, away, away, accepted);
  const ran = await batch(server, { stdin: `${event('u', 'x')}\n`.repeat(501) });
  const waits = new RegExp(`^${why} Retrying in 5 s\\.\n`);
  expectRan(ran, 0, waits, /\n2 accepted, 0 failed\.\n$/);
  expect(new Set(server.requests.slice(1).map(({ body }) => body)).size).toBe(1);
});

test.concurrent('a batch that never reaches the service fails at once', async () => {
  using server = startFaultServer(dropped);
  expectRan(await batch(server), 5, 'Cannot reach');
  expect(server.requests).toHaveLength(3);
});

test.concurrent.each([
  ['a batch with external ids', ['ingest', 'batch', '-'], event('u', 'x', { externalId: 'e' })],
  ['an import', ['import', '-'], JSON.stringify(aMemory)],
  ['a document without a name', ['ingest', 'document', '--user', 'u', '-', 'none.md'], 'text'],
])('all attempts of %s have the same idempotency key', async (_, argv, stdin) => {
  const later = refusal(429, 'rate_limited', { 'Retry-After': '0' });
  using server = startFaultServer(later, later, later, later, refusal(400, 'invalid_request'));
  await memory(argv, { ...around(server.url), stdin });
  const keys = server.requests.map(({ headers }) => headers.get('idempotency-key'));
  expect(keys.length).toBeGreaterThan(4);
  expect(keys[0]).toMatch(/./);
  expect(new Set(keys).size).toBe(1);
});
