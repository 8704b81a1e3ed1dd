import { expect, test } from 'bun:test';
import { dropped, html, json, refusal, startFaultServer, text } from '../support/fault-server.ts';
import { expectRan, memory } from './command.ts';

const details = [
  { field: 'userId', message: 'is too long' },
  { field: 'content', message: 'must not be empty' },
];
const invalid = { error: 'invalid_request', message: 'two fields', requestId: 'req_1', details };
const address = 'To check it: memory profile show\n';

test.each([
  ['a page of another web server', html(404), 1, 'did not respond like the memory', address],
  ['JSON of another program', json(404, { detail: 'Not Found' }), 1, ': 404, application', address],
  ['a page with 200', html(200), 1, ': 200, text/html.\n', address],
  ['a redirect', text(301, '', { Location: 'https://example.com/' }), 1, 'example.com', address],
  ['a 503 of a proxy', html(503), 1, ': 503, text/html.\n', address],
  ['a 431 of a proxy', text(431, ''), 1, 'the id or query is longer than the service', address],
  ['a 413 of a proxy', text(413, ''), 1, 'the request is larger than the service', address],
  ['a 401 of a proxy', html(401), 4, 'The API key in --api-key was rejected:', 'create --save'],
  ['a read-only key', refusal(403, 'forbidden'), 4, 'Error: It is forbidden', 'memory whoami\n'],
  ['an internal error', refusal(500, 'internal'), 1, 'It is internal', 'check the server log.\n'],
  ['a full disk', refusal(503, 'unavailable'), 1, 'It is unavailable', 'check the server log.\n'],
  [
    'a long text',
    refusal(413, 'payload_too_large'),
    1,
    '.\n',
    'Split the text, or raise MEMORY_MAX_BODY_BYTES on the server.',
  ],
  ['a rate limit', refusal(429, 'rate_limited', { 'Retry-After': '90' }), 1, 'It is', 'limited.\n'],
  ['invalid fields', json(400, invalid), 1, ':\n  userId: is too long\n  content: ', '--help'],
])('%s is reported with one hint', async (_, reply, code, message, hint) => {
  using server = startFaultServer(reply);
  const argv = ['get', 'mem_1', '--api-key', 'a-key', '--base-url', server.url];
  const ran = await memory(argv);
  expectRan(ran, code, /^Error: /, message, hint);
  expect(ran.stdout).toBe('');
});

test('a key that cannot be sent is reported with its source, and not repeated', async () => {
  const env = { MEMORY_BASE_URL: 'http://127.0.0.1:1', MEMORY_API_KEY: 'schlüssel-mit-umlaut' };
  const { code, stderr } = await memory(['get', 'mem_1'], { env });
  expect(stderr).toStartWith('Error: The API key in MEMORY_API_KEY was rejected: ');
  expect(stderr).not.toContain('schl');
  expect(code).toBe(4);
});

test('a wait does not read the 404 of another web server as a missing memory', async () => {
  using server = startFaultServer(html(404));
  const env = { MEMORY_API_KEY: 'k', MEMORY_BASE_URL: server.url };
  expect(await memory(['wait', 'mem_1'], { env })).toMatchObject({ code: 1, stdout: '' });
});

test('a broken connection is reported without repeating the address, and without advice for programmers', async () => {
  using server = startFaultServer(dropped);
  const argv = ['get', 'mem_1', '--api-key', 'a-key', '--base-url', server.url];
  const { code, stderr } = await memory(argv);
  expect(stderr).toStartWith(`Error: Cannot reach ${server.url} (`);
  expect(stderr.split(server.url)).toHaveLength(2);
  expect(stderr).not.toContain('fetch(');
  expect(code).toBe(5);
});
