import { afterAll, beforeAll, expect, test } from 'bun:test';
import { execFileSync } from 'node:child_process';
import { json, type Reply, refusal, startFaultServer } from '../support/fault-server.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { memory, memoryAt, temporaryFolder } from './command.ts';
import { program } from './shell.ts';

/* Errors of the service are printed with a hint that says what to do next. */

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const save = (text: string) => ['save', '--user', 'hints', text];

async function printedFor(argv: string[], reply: Reply) {
  using failing = startFaultServer(reply);
  const env = { MEMORY_API_KEY: 'k', MEMORY_BASE_URL: failing.url };
  return await memory(argv, { env });
}

test('an idempotency key from another request: the hint says to use a new one', async () => {
  const keyed = ['--idempotency-key', 'twice'];
  await memoryAt(server)([...save('one'), ...keyed]);
  const { code, stdout, stderr } = await memoryAt(server)([...save('two'), ...keyed]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain('\nOmit --idempotency-key, or use a new one.\n');
  const { items } = await server.client.list({ userId: 'hints' });
  expect(items.map(({ content }) => content)).toEqual(['one']);
});

test('an update of another version: the hint says to read the current one', async () => {
  const { id } = await server.client.save({ userId: 'versions', content: 'one' });
  const argv = ['update', id, 'two', '--if-version', '7'];
  const { code, stdout, stderr } = await memoryAt(server)(argv);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toStartWith('Error: Nothing was changed: ');
  expect(stderr).toContain('\nTo show the current version: memory get <id>\n');
});

test("a write with a read-only key: the hint says how to show the key's permissions", async () => {
  const env = { MEMORY_API_KEY: await server.createKey('default', { readOnly: true }) };
  const { code, stderr } = await memoryAt(server)(save('one'), { env });
  expect(stderr).toStartWith(
    "Error: Not allowed: this API key is read-only.\nTo show the key's permissions: memory whoami\n",
  );
  expect(code).toBe(4);
});

test.each([
  ['a rate limit', ['get', 'mem_1'], 429, 'rate_limited', 'Try again in 90 s.'],
  [
    'an internal error',
    ['get', 'mem_1'],
    500,
    'internal',
    'Try again later, and check the server log.',
  ],
  [
    'a save that is too large',
    save('x'),
    413,
    'payload_too_large',
    'To store a long text: memory ingest document --user <id> <file>',
  ],
  [
    'another request that is too large',
    ['ingest', 'chat', '--user', 'hints', '--message', 'user: Hi'],
    413,
    'payload_too_large',
    'Split the input, or raise MEMORY_MAX_BODY_BYTES on the server.',
  ],
])('%s has its own hint', async (_, argv, status, error, hint) => {
  const reply = refusal(status, error, { 'Retry-After': '90' });
  const { code, stdout, stderr } = await printedFor(argv, reply);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr.toLowerCase()).toStartWith(`error: it is ${error}`);
  expect(stderr).toContain(`\n${hint}\n`);
});

test.if(Bun.which('openssl') !== null)(
  'a certificate that is not trusted: the hint names the variable, which works',
  async () => {
    using folder = temporaryFolder();
    const [key, cert] = [folder.file('key.pem'), folder.file('cert.pem')];
    const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const argv = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert];
    execFileSync('openssl', [...argv, ...names], { stdio: 'ignore' });
    const tls = { key: Bun.file(key), cert: Bun.file(cert) };
    const page = () => Response.json({ status: 'ok', version: '1' });
    using web = Bun.serve({ port: 0, tls, fetch: page });
    const url = `https://127.0.0.1:${web.port}`;
    const { code, stderr } = await memory(['health'], { env: { MEMORY_BASE_URL: url } });
    expect(stderr).toBe(
      `Error: Cannot reach ${url} (its certificate is not trusted).\n` +
        'To trust your own certificate or authority: NODE_EXTRA_CA_CERTS=<file.pem> memory …\n',
    );
    expect(code).toBe(5);
    const env = { ...process.env, MEMORY_BASE_URL: url, NODE_EXTRA_CA_CERTS: cert };
    const trusting = Bun.spawn([...program, 'health'], { env, stdout: 'pipe' });
    expect(await trusting.stdout.text()).toContain('ok');
  },
);

test('several invalid fields are listed, one per line', async () => {
  const details = [
    { field: 'userId', message: 'is required' },
    { field: 'content', message: 'must not be empty' },
  ];
  const body = { error: 'invalid_request', message: 'two fields', requestId: 'req_1', details };
  const { code, stderr } = await printedFor(save('x'), json(400, body));
  expect(stderr).toStartWith(
    'Error: The request is invalid:\n  userId: is required\n  content: must not be empty\n',
  );
  expect(code).toBe(1);
});
