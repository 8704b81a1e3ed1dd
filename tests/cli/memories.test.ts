import { describe, expect, test } from 'bun:test';
import { backend } from '../support/backend.ts';
import { importable } from '../support/writes.ts';
import { expectRan, lines, memoryAt, type Surroundings, withMemory } from './command.ts';

/* What transcripts/memories.txt and project.txt cannot show. */

const { server, memory } = await withMemory();

const saveAll = (userId: string, ...contents: string[]) =>
  Promise.all(contents.map((content) => server.client.save({ userId, content })));
const left = async (userId: string) => (await server.client.list({ userId })).items.length;
/** The contents in the rows that the command prints to a pipe. */
const contentsIn = (stdout: string) => lines(stdout).map((line) => line.split('\t')[4]);

const json = async (...argv: string[]) => {
  const { code, stdout, stderr } = await memory([...argv, '--json']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
};

describe('memory save', () => {
  const save = (...more: string[]) => json('save', '--user', 'saver', ...more, 'x');

  test('explains how to store text that exceeds the body limit for a save or update', async () => {
    const { id } = await save();
    const stdin = 'x'.repeat(1024 * 1024);
    const advice = 'To store a long text: memory ingest document --user <id> <file>';
    for (const argv of [['save', '--user', 'saver', '-'], `update ${id} -`.split(' ')]) {
      const ran = await memory(argv, { stdin });
      expectRan(ran, 1, `Error: The body must be at most 1048576 bytes.\n${advice}\n`);
    }
  });

  test.each([
    ['2026', '2026-01-01T00:00:00.000Z'],
    ['2026-05', '2026-05-01T00:00:00.000Z'],
    ['2026-05-08', '2026-05-08T00:00:00.000Z'],
    ['2026-05-08T15:56:07.5+02:00', '2026-05-08T13:56:07.500Z'],
    // As the command date prints it with %z.
    ['2026-05-08T15:56:07+0200', '2026-05-08T13:56:07.000Z'],
    ['2016-12-31t23:59:60z', '2017-01-01T00:00:00.000Z'],
  ])('--occurred %s is %s', async (given, occurredAt) => {
    expect(await save('--occurred', given)).toMatchObject({ occurredAt });
  });

  test('--expires accepts a month, and a duration from now; --occurred one before now', async () => {
    const fixed = await save('--expires', '2096-05');
    expect(fixed).toMatchObject({ expiresAt: '2096-05-01T00:00:00.000Z' });
    const relative = await save('--expires', '30d', '--occurred', '3d');
    const days = (time: string) => (Date.parse(time) - Date.parse(relative.createdAt)) / 864e5;
    const times = [relative.expiresAt, relative.occurredAt];
    expect(times.map(days).map(Math.round)).toEqual([30, -3]);
  });

  test('a user, a source and an external id may have 256 characters', async () => {
    const long = 'é'.repeat(256);
    const named = ['--user', long, '--source', long, '--external-id', long];
    const saved = await json('save', ...named, 'x');
    expect(saved).toMatchObject({ userId: long, source: long, externalId: long });
  });
});

test('memory update --metadata, --occurred and --expires replace the whole field, or remove it', async () => {
  const times = ['--occurred', '2026-05', '--expires', '30d'];
  const { id } = await json('save', '--user', 'updater', ...times, '-m', 'a=1', '-m', 'b:=2', 'x');
  const change = (...fields: string[]) => json('update', id, ...fields);
  const unchanged = { occurredAt: '2026-05-01T00:00:00.000Z', content: 'x' };
  expect(await change('-m', 'c=3')).toMatchObject({ ...unchanged, metadata: { c: '3' } });
  expect((await change('-m', 'none')).metadata).toEqual({});
  expect(await change('--expires', 'none')).toMatchObject({ ...unchanged, expiresAt: null });
  expect(await change('--occurred', 'none')).toMatchObject({ content: 'x', occurredAt: null });
});

describe('memory list', () => {
  test('continues with the options in the hint, also if --from and --to are durations', async () => {
    const occurredAt = new Date(Date.now() - 2 * 864e5);
    for (const content of ['1', '2', '3']) {
      await server.client.save({ userId: 'since', content, occurredAt });
    }
    const times = ['--from', '3d', '--to', '1d'];
    const argv = ['list', '--user', 'since', ...times, '--limit', '2', '--order', 'asc'];
    const { stdout, stderr } = await memory(argv);
    expect(contentsIn(stdout)).toEqual(['1', '2']);
    const next = /or (--.*)\n/.exec(stderr)?.[1]?.split(' ') ?? [];
    const rest = await memory([...argv, ...next]);
    expect(contentsIn(rest.stdout)).toEqual(['3']);
    expect(rest.stderr).toBe('');
  });

  test('on a narrower terminal drops first the age, then the type', async () => {
    const userId = 'dropped';
    await saveAll(userId, 'Likes tea '.repeat(20));
    const now = new Date().toISOString();
    const chat = { ...importable(userId), type: 'conversation', createdAt: now } as const;
    await server.client.import({ items: [chat] });
    const headers = [67, 63, 50].map(async (terminal) => {
      const { stdout } = await memory(['list', '--user', userId], { terminal });
      return lines(stdout)[0]?.replace(/ +/g, ' ');
    });
    const expected = ['ID TYPE AGE CONTENT', 'ID TYPE CONTENT', 'ID CONTENT'];
    expect(await Promise.all(headers)).toEqual(expected);
  });

  test('does not cut a text that exactly fits the terminal', async () => {
    const content = 'x'.repeat(37);
    await saveAll('fits', content);
    const { stdout } = await memory(['list', '--user', 'fits'], { terminal: 80 });
    const [, row = ''] = lines(stdout);
    expect(row).toEndWith(`  ${content}`);
    expect(Bun.stringWidth(row)).toBe(80);
  });

  test('shows the end of a long path of a document, and leaves room for the text', async () => {
    const externalId = 'handbook/departments/engineering/on-boarding/first-day.md';
    const document = { ...importable('paths'), externalId, content: 'Bring your badge.' };
    await server.client.import({ items: [document] });
    const { stdout } = await memory(['list', '--user', 'paths'], { terminal: 120 });
    expect(stdout).toContain('  …ts/engineering/on-boarding/first-day.md: Bring your badge.\n');
  });

  test('has 20 memories without --limit, and --all prints 100 in one table', async () => {
    await saveAll('hundred', ...Array(100).fill('x'));
    const argv = ['list', '--user', 'hundred'];
    const { stdout, stderr } = await memory(argv);
    expect(lines(stdout)).toHaveLength(20);
    expect(stderr).toStartWith('More results are available: add --all, or --cursor ');
    const found = lines((await memory([...argv, '--all'], { terminal: 80 })).stdout);
    expect(found).toHaveLength(101);
    expect(found.filter((line) => line.startsWith('ID '))).toHaveLength(1);
  });
});

test.each([
  ['list', []],
  ['search', ['trip']],
])('memory %s --from --to returns the memories in between', async (command, more) => {
  const userId = `times-${command}`;
  for (const day of ['2026-04-30', '2026-05-01', '2026-05-31', '2026-06-01']) {
    await server.client.save({ userId, content: `trip of ${day}`, occurredAt: day });
  }
  const found = async (...times: string[]) => {
    const { items } = await json(command, '--user', userId, ...times, ...more);
    return items.map(({ content }: { content: string }) => content.slice('trip of '.length)).sort();
  };
  const may = ['2026-05-01', '2026-05-31'];
  expect(await found('--from', '2026-05', '--to', '2026-06')).toEqual(may);
  expect(await found('--to', '2026-05-01')).toEqual(['2026-04-30']);
  expect(await found('--from', '2026-06-01T00:00:00Z')).toEqual(['2026-06-01']);
  const daysAgo = (date: string) => `${(Date.now() - Date.parse(date)) / 86_400_000}`.slice(0, 8);
  const since = `${daysAgo('2026-05-15')}d`;
  expect(await found('--from', since)).toEqual(await found('--from', '2026-05-15'));
  expect(await found('--to', since)).toEqual(await found('--to', '2026-05-15'));
});

test('a key created with --user needs no --user, and a key without one gets a hint', async () => {
  const argv = ['keys', 'create', '--user', 'bound', '--database', server.databaseUrl];
  const as = memoryAt({ ...server, key: (await memory(argv)).stdout.trim() });
  const writes: [string[], unknown][] = [
    [['save', '-'], 'A saved zebra'],
    [['ingest', 'support', '-', '--wait'], { data: { subject: 'A zebra ticket', comments: [] } }],
    [['ingest', 'chat', '-', '--wait'], [{ role: 'user', content: 'A zebra chat' }]],
    [['ingest', 'document', '-', '--wait'], 'About a zebra'],
  ];
  for (const [argv, input] of writes) {
    const stdin = JSON.stringify(input);
    expect({ argv, ...(await as(argv, { stdin })) }).toMatchObject({ argv, code: 0 });
    const refused = await memory(argv, { stdin });
    expect({ argv, code: refused.code }).not.toEqual({ argv, code: 0 });
    expect(refused.stderr).toContain('Specify the user: ');
  }
  expect((await as(['ingest', 'document', '-', '--dry-run'], { stdin: 'text' })).code).toBe(0);
  const { items } = JSON.parse((await as(['list', '--json'])).stdout);
  expect(items.map(({ userId }: { userId: string }) => userId)).toEqual(Array(4).fill('bound'));
  expect(lines((await as(['search', 'zebra'])).stdout)).not.toEqual([]);
  const ran = await memory(['list']);
  expectRan(ran, 1, 'Error: userId: is required.\nSpecify the user: --user <id>');
});

describe('memory delete --user', () => {
  const question = 'Permanently delete all memories of u? [y/N] ';

  test.each([
    ...['\n', 'n\n', 'no\n', 'yess\n', '', 'u\n', 'n\ny\n'].map((typed) => [typed, false] as const),
    ...['y\n', 'YES\n', ' Yes \r\n'].map((typed) => [typed, true] as const),
  ])('on a terminal, %p means yes: %p', async (typed, isYes) => {
    await server.client.deleteAll({ userId: 'u' });
    await saveAll('u', 'x');
    const ran = await memory(['delete', '--user', 'u'], { terminal: 80, typed });
    const said = isYes ? 'Deleted 1 memory of u.\n' : 'Nothing was deleted.\n';
    const stderr = question + (typed === '' ? '\n' : '') + said;
    expect(ran).toEqual({ code: isYes ? 0 : 1, stdout: '', stderr });
    expect(await left('u')).toBe(isYes ? 0 : 1);
  });

  test('does nothing if the question cannot be shown on a terminal: exit 2', async () => {
    await saveAll('unseen', 'x');
    expectRan(await memory(['delete', '--user', 'unseen'], { typed: 'y\n' }), 2, 'requires --yes');
    expect(await left('unseen')).toBe(1);
  });

  test('on a terminal, Enter ends the answer, although the input stays open', async () => {
    await saveAll('enter', 'x');
    const stdin = new ReadableStream<Uint8Array>({
      start: (stream) => stream.enqueue(Buffer.from('y\n')),
    });
    const around = { terminal: 80, typed: '', stdin };
    expect(await memory(['delete', '--user', 'enter'], around)).toMatchObject({ code: 0 });
    expect(await left('enter')).toBe(0);
  });
});

test('health needs no key', async () => {
  const { code, stdout } = await memory(['health', '--json'], { env: { MEMORY_API_KEY: '' } });
  expect(JSON.parse(stdout)).toMatchObject({ status: 'ok', storage: backend });
  expect(code).toBe(0);
});

test('the figures of a service with metrics include its files', async () => {
  expect((await memory(['stats'])).stdout).toMatch(/^databaseBytes\t\d+$/m);
  const { stdout } = await memory(['stats'], { terminal: 80 });
  // PostgreSQL has its own log.
  expect(/^logBytes +\d/m.test(stdout)).toBe(backend === 'sqlite');
});

test('the figures of a bound key are those of its user, and name the user', async () => {
  await saveAll('sized', 'x'.repeat(1_534));
  const key = await server.createKey('default', { userId: 'sized' });
  const stats = async (around?: Surroundings) =>
    (await memoryAt({ ...server, key })(['stats'], around)).stdout;
  expect(await stats()).toMatch(/^user\tsized\nusers\t1\nmemories\t1\nbytes\t1536$/m);
  expect(await stats({ terminal: 80 })).toMatch(/^bytes +1\.5 KiB$/m);
});
