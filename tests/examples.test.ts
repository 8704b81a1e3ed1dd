import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { startChild } from './support/process.ts';
import { startTestServer, type TestServer, withProject } from './support/server.ts';

/* Runs the examples in docs/examples. */

const root = join(import.meta.dir, '..');
const server = await withProject();

const folder = join(root, 'docs/examples');

function environment(): Record<string, string> {
  return { MEMORY_BASE_URL: server.url, MEMORY_API_KEY: server.key, PORT: '0' };
}

async function output(command: string[], env: Record<string, string> = {}): Promise<string> {
  const all = { ...process.env, ...environment(), ...env };
  const child = Bun.spawn(command, { env: all, cwd: root, stderr: 'pipe' });
  const [text, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  expect({ code: await child.exited, errors }).toMatchObject({ code: 0 });
  return text;
}

function run(name: string, ...args: string[]): Promise<string> {
  return output([process.execPath, join(folder, name), ...args]);
}

test('the chat agent remembers a user across runs and separates users', async () => {
  const printed = await run('chat-agent.ts', 'ada');
  expect(printed).toContain(`Where does my sister live?
agent: You told me: My sister lives in Lisbon.
user:  Which food am I allergic to?
agent: You told me: I am allergic to peanuts.

Another user
user:  Where does my sister live?
agent: You never told me.`);
  expect(await run('chat-agent.ts', 'ada')).toBe(printed);
  expect((await server.client.list({ userId: 'ada' })).items).toHaveLength(2);
});

test('the travel agent stores a dated fact and replaces it, and its booking expires', async () => {
  await server.client.save({ userId: 'eve', content: 'Plays the cello' });
  expect(await run('travel-agent.ts', 'eve')).toBe(`user:  I have been vegetarian since May.
agent: I will remember that.
user:  Room 12 in Rome is ours until noon.
agent: I will remember that.
knows: Stays in room 12 in Rome, until checkout
knows: Is vegetarian, since 2026-05-01
user:  I have been vegan since September.
agent: I have changed that.
knows: Is vegan, since 2026-09-01
`);
  const { items } = await server.client.list({ userId: 'eve' });
  expect(items.map(({ content }) => content)).toEqual(['Is vegan', 'Plays the cello']);
});

test('the help-desk sync can be run again', async () => {
  const counts = 'ada: 2 tickets\nben: 1 tickets\n';
  expect(await run('help-desk-sync.ts')).toBe(`3 synced, 0 unchanged\n${counts}`);
  const before = await server.client.list({ userId: 'ada', source: 'helpdesk' });
  expect(await run('help-desk-sync.ts')).toBe(`0 synced, 3 unchanged\n${counts}`);
  expect(await server.client.list({ userId: 'ada', source: 'helpdesk' })).toEqual(before);
  await server.client.deleteAll({ userId: 'ben' });
  const without = '0 synced, 3 unchanged\nada: 2 tickets\nben: 0 tickets\n';
  expect(await run('help-desk-sync.ts')).toBe(without);
});

describe('the web handler on node:http', () => {
  const headers = { 'x-demo-user': 'web', 'content-type': 'application/json' };
  let url = '';
  let child: ReturnType<typeof startChild>;
  beforeAll(async () => {
    child = startChild([process.execPath, join(folder, 'node-server.ts')], environment());
    url = await child.ready;
  });
  afterAll(() => child.end('SIGTERM'));

  function post(body: string, extra: Record<string, string> = {}) {
    return fetch(url, { method: 'POST', headers: { ...headers, ...extra }, body });
  }

  test('stores a note once per idempotency key and finds it', async () => {
    const note = JSON.stringify({ content: 'The spare key is under the mat.' });
    const first = await post(note, { 'idempotency-key': 'note-1' });
    expect(first.status).toBe(201);
    const { id } = (await first.json()) as { id: string };
    const again = await post(note, { 'idempotency-key': 'note-1' });
    expect(await again.json()).toEqual({ id });
    const another = { 'idempotency-key': 'note-1', 'x-demo-user': 'another' };
    expect((await post(note, another)).status).toBe(201);
    const found = await fetch(`${url}/?q=where+is+the+spare+key`, { headers });
    expect(await found.json()).toMatchObject([{ id, content: 'The spare key is under the mat.' }]);
  });

  test('rejects invalid bodies and requests without a session', async () => {
    expect((await post('{"content":""}')).status).toBe(400);
    expect((await post('{')).status).toBe(400);
    expect((await post('null')).status).toBe(400);
    expect((await fetch(url)).status).toBe(401);
    expect((await fetch(url, { method: 'DELETE', headers })).status).toBe(405);
  });
});

test('the shell script saves, searches and deletes through the CLI', async () => {
  const MEMORY = `${process.execPath} ${join(root, 'cli/main.ts')}`;
  const printed = await output(['bash', join(folder, 'memory.sh'), 'shell'], { MEMORY });
  expect(printed).toBe(`memories: 4
"content":"The quarterly report is due on Friday.\\n"
deleted: exit 3
`);
});

describe('README.md', () => {
  let own: TestServer;
  beforeAll(async () => {
    own = await startTestServer({ MEMORY_RATE_LIMIT: '6000/60', MEMORY_EMBEDDINGS: 'local' });
  });
  afterAll(() => own.stop());

  /** Returns the code of the first block in this language, for the server of the test. */
  async function blockIn(language: string): Promise<string> {
    const text = await Bun.file(join(root, 'README.md')).text();
    const [, code = ''] = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'ms').exec(text) ?? [];
    expect(code).not.toBe('');
    return code.replaceAll('http://127.0.0.1:7070', own.url);
  }

  async function ranAs(command: string[], code: string): Promise<string> {
    const env = { ...process.env, MEMORY_BASE_URL: own.url, MEMORY_API_KEY: own.key };
    const child = Bun.spawn(command, { env, cwd: root, stdin: Buffer.from(code), stderr: 'pipe' });
    const [text, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    expect({ code: await child.exited, errors }).toMatchObject({ code: 0 });
    expect(text).not.toBe('');
    return text;
  }

  test('the TypeScript code prints what its comment says', async () => {
    const code = await blockIn('ts');
    expect(code).toContain(`// ${await ranAs([process.execPath, 'run', '-'], code)}`.trim());
  });

  test.if(Bun.which('curl') !== null)('the response to curl is whole', async () => {
    const [command = '', ...shown] = (await blockIn('console')).split(/(?<=[^\\])\n/);
    const script = command.replace(/^\$ curl/, 'curl -s');
    const printed = (await ranAs(['sh'], script)).split('\r\n');
    const shapeOf = (line: string) => (line.startsWith('{') ? Object.keys(JSON.parse(line)) : line);
    const names = (lines: string[]) =>
      lines.filter(Boolean).map((line) => shapeOf(line.replace(/(?<=^[\w-]+:).*/, '')));
    expect(names(shown)).toEqual(names(printed));
  });
});
