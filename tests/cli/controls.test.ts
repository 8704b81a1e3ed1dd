import { describe, expect, test } from 'bun:test';
import { withFolder } from '../support/folder.ts';
import { withServer } from '../support/server.ts';
import { memory, memoryAt, type Surroundings } from './command.ts';
import { startService } from './service.ts';

const hostile = 'a\x1b[2J\x07\x9b31m\x7f\u202eb\u2066c';
const shown = '\\u001b[2J\\u0007';
const steering = /(?![\t\n])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/u;

const server = await withServer();
const saved = { userId: hostile, content: hostile, metadata: { [hostile]: hostile } };
const { id } = await server.client.save(saved);
const folder = withFolder();
await Bun.write(folder.file(`docs/${hostile}.md`), 'text');
await Bun.write(folder.file(`bad/${hostile}.md`), 'a\0b');

const terminal = { terminal: 200 };
const user = ['--user', hostile];
const commands: [string, string[], Surroundings][] = [
  ['get', ['get', 'ID'], terminal],
  ['get --json', ['get', 'ID', '--json'], terminal],
  ['get --json in a pipe', ['get', 'ID', '--json'], {}],
  ['get in a pipe', ['get', 'ID'], {}],
  ['list', ['list', ...user], terminal],
  ['list in a pipe', ['list', ...user], {}],
  ['list --json', ['list', ...user, '--json'], {}],
  ['list --all --json', ['list', ...user, '--all', '--json'], terminal],
  ['search', ['search', ...user, 'a'], terminal],
  ['search --json', ['search', ...user, 'a', '--json'], terminal],
  ['export', ['export'], terminal],
  ['delete for an unknown user', ['delete', '--user', `${hostile}!`, '--yes'], terminal],
  ['wait for an unknown id', ['wait', hostile], terminal],
  ['wait for an unknown id --json', ['wait', hostile, '--json'], terminal],
  ['a missing file', ['ingest', 'record', hostile], terminal],
  ['an unknown command', [hostile], terminal],
  ['an unknown option', ['list', `--${hostile}`], terminal],
  ['an invalid value', ['list', '--limit', hostile], terminal],
  ['an invalid base URL', ['list', ...user, '--base-url', hostile], terminal],
  ['a missing database', ['keys', 'list', '--database', hostile], terminal],
  ['a document', ['ingest', 'document', ...user, 'docs'], terminal],
  ['a document --json', ['ingest', 'document', ...user, 'bad', '--json'], terminal],
  ['a document that is not text', ['ingest', 'document', ...user, 'bad'], terminal],
];

test.each(commands)('control characters are escaped in: %s', async (_, argv, around) => {
  const real = argv.map((word) => (word === 'ID' ? id : word));
  const options = { ...around, cwd: folder.path };
  const { stdout, stderr } = await memoryAt(server)(real, options);
  expect(stdout + stderr).not.toMatch(steering);
  expect((stdout + stderr).replaceAll('\\\\', '\\')).toContain(shown);
});

describe.each([
  ['on a terminal', terminal],
  ['in a pipe', {}],
])('nothing that a hostile service returns controls the terminal, %s', (_, around) => {
  const names = 'id userId memoryId content snippet type status score matchedBy externalId';
  const more = 'errorMessage createdAt lastCreatedAt project readOnly memories';
  const fields = Object.fromEntries(
    [...`${names} ${more}`.split(' '), hostile].map((name) => [name, hostile]),
  );
  const parts = { words: hostile, phrase: hostile, date: hostile, meaning: hostile };
  const item = { ...fields, metadata: fields, highlights: [], parts };
  const counted = { byType: fields, byStatus: fields, bytes: 0, failed: 0 };
  const body = { ...item, ...counted, items: [item], notFound: [], nextCursor: hostile };
  const metrics = `memory_build_info{version="${hostile}"} 1\n`;
  const type = { headers: { 'Content-Type': 'text/plain; version=0.0.4' } };

  test.each([
    ...['whoami', 'health', 'stats', 'list', 'users', 'tasks', 'search a --explain', 'save a'],
    ...['get mem_1', 'status mem_1', `wait ${hostile}`, 'ingest document docs'],
    ...[`ingest document docs/${hostile}.md`, 'top --interval 1 --count 1 --base-url URL'],
  ])('%j', async (command) => {
    await using service = startService(({ url }) =>
      url.endsWith('/metrics') ? new Response(metrics, type) : Response.json(body),
    );
    const env = { ...service.env, MEMORY_API_KEY: 'a-key' };
    const real = command.replace('URL', `${env.MEMORY_BASE_URL}/${hostile}`).split(' ');
    const { stdout, stderr } = await memory(real, { ...around, env, cwd: folder.path });
    expect(stderr).not.toStartWith('Error:');
    // Without the sequences with which memory top draws.
    const text = (stdout + stderr).replaceAll(/\p{Cc}\[[HJK]/gu, '');
    expect(text).not.toMatch(steering);
  });
});

test('JSON with escapes parses to the same value', async () => {
  const { stdout } = await memoryAt(server)(['get', id, '--json'], terminal);
  expect(JSON.parse(stdout)).toMatchObject({
    userId: hostile,
    content: hostile,
    metadata: { [hostile]: hostile },
  });
});
