import { expect, test } from 'bun:test';
import {
  html,
  json,
  type Reply,
  refusal,
  startFaultServer,
  text,
} from '../support/fault-server.ts';
import { startTestServer } from '../support/server.ts';
import { memory, memoryAt } from './command.ts';

/* Tests of the errors that are reported if another program responds at the service's address. */

async function get(reply: Reply) {
  using server = startFaultServer(reply);
  const env = { MEMORY_API_KEY: 'k', MEMORY_BASE_URL: server.url };
  return { ...(await memory(['get', 'mem_1'], { env })), url: server.url };
}

test.each([
  ['a page of another web server', html(404)],
  ['JSON of another program', json(404, { detail: 'Not Found' })],
  ['a page with 200', html(200)],
  ['a redirect', text(301, '', { Location: 'https://example.com/' })],
])('%s: reports that it is not the service, with the base URL, exit 1', async (_, reply) => {
  const { code, stdout, stderr, url } = await get(reply);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toStartWith('Error: The server at this address is not the memory service: ');
  expect(stderr).toContain(`\nCheck the base URL: ${url}\n`);
  expect(stderr).not.toMatch(/baseUrl|\?\.|log of the server/);
});

test.each([502, 503, 504, 429])(
  '%p from a proxy: reports that the proxy responded',
  async (status) => {
    const { code, stderr } = await get(text(status, 'busy', { 'Retry-After': '90' }));
    expect(code).toBe(1);
    expect(stderr).toStartWith(`Error: A proxy in front of the service returned: ${status}`);
    expect(stderr).toContain('\nTry again in ');
    expect(stderr).not.toMatch(/baseUrl|base URL/);
  },
);

test.each([
  [413, 'the request is larger than the service accepts'],
  [414, 'the id or query is longer than the service accepts'],
  [431, 'the id or query is longer than the service accepts'],
])('%p without an error code: %s', async (status, message) => {
  expect((await get(text(status, ''))).stderr.toLowerCase()).toContain(message);
});

test('memory wait does not read the 404 of another web server as a missing memory', async () => {
  using server = startFaultServer(html(404));
  const env = { MEMORY_API_KEY: 'k', MEMORY_BASE_URL: server.url };
  const { code, stdout, stderr } = await memory(['wait', 'mem_1'], { env });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toStartWith(
    'Error: The server at this address is not the memory service: 404, text/html.\n',
  );
});

test('the hint for a 501 does not point to the server log', async () => {
  const { code, stderr } = await get(html(501));
  expect(stderr).toStartWith(
    'Error: The server at this address is not the memory service: 501, text/html.\n',
  );
  expect(code).toBe(1);
});

test('errors of the service itself are unchanged', async () => {
  expect(await get(refusal(404, 'not_found'))).toMatchObject({ code: 3 });
  const { stderr } = await get(refusal(500, 'internal'));
  expect(stderr).toContain('server log');
  const server = await startTestServer();
  const missing = await memoryAt(server)(['get', 'mem_none']);
  expect(missing.code).toBe(3);
  expect(missing.stderr).toContain('To list ids');
  await server.stop();
});

test.each([
  ['--api-key', (key: string) => ['--api-key', key], {}],
  ['MEMORY_API_KEY', () => [], { MEMORY_API_KEY: 'schlüssel-mit-umlaut' }],
])('a key that cannot be sent is reported with its source: %s', async (place, words, more) => {
  const env = { MEMORY_BASE_URL: 'http://127.0.0.1:1', ...more };
  const argv = ['get', 'mem_1', ...words('schlüssel-mit-umlaut')];
  const { code, stderr } = await memory(argv, { env });
  expect(stderr).toStartWith(`Error: The API key in ${place} cannot be sent: `);
  expect(stderr).toContain('visible ASCII');
  expect(stderr).not.toMatch(/refused|apiKey|schl/);
  expect(code).toBe(4);
});

test.each([401, 403])('%p from a proxy: reports which key was rejected, exit 4', async (status) => {
  const { code, stdout, stderr } = await get(html(status));
  expect(stderr).toStartWith('Error: The API key was rejected: the key in MEMORY_API_KEY');
  expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
});
