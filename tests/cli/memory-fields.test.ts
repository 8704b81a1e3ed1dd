import { describe, expect, test } from 'bun:test';
import type { Memory, Page } from '../../sdk/index.ts';
import { withProject } from '../support/server.ts';
import { expectRan, lines, memory, memoryAt } from './command.ts';

const server = await withProject();

const json = async (argv: string[]) => {
  const { code, stdout, stderr } = await memoryAt(server)([...argv, '--json']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
};

describe('memory save', () => {
  const save = ['save', '--user', 'saver'];

  test.each([
    ['2026', '2026-01-01T00:00:00.000Z'],
    ['2026-05', '2026-05-01T00:00:00.000Z'],
    ['2026-05-08', '2026-05-08T00:00:00.000Z'],
    ['2026-05-08T15:56:07.5+02:00', '2026-05-08T13:56:07.500Z'],
  ])('--occurred %s is %s', async (given, occurredAt) => {
    expect(await json([...save, '--occurred', given, 'x'])).toMatchObject({ occurredAt });
  });

  test('--expires accepts a month, and a duration from now; --occurred one before now', async () => {
    const fixed = await json([...save, '--expires', '2096-05', 'x']);
    expect(fixed).toMatchObject({ expiresAt: '2096-05-01T00:00:00.000Z' });
    const times = ['--expires', '30d', '--occurred', '3d'];
    const { expiresAt, occurredAt, createdAt } = await json([...save, ...times, 'x']);
    const days = (time: string) => (Date.parse(time) - Date.parse(createdAt)) / 864e5;
    expect([days(expiresAt), days(occurredAt)].map(Math.round)).toEqual([30, -3]);
  });
});

describe('memory update', () => {
  test('--metadata replaces all metadata, and none removes it', async () => {
    const metadata = ['-m', 'a=1', '-m', 'b:=2'];
    const { id } = await json(['save', '--user', 'updater', ...metadata, 'x']);
    expect(await json(['update', id, '-m', 'c=3'])).toMatchObject({ metadata: { c: '3' } });
    const { metadata: left, content } = await json(['update', id, '-m', 'none']);
    expect({ left, content }).toEqual({ left: {}, content: 'x' });
  });

  test('--occurred none and --expires none remove the times', async () => {
    const times = ['--occurred', '2026-05', '--expires', '30d'];
    const { id } = await json(['save', '--user', 'updater', ...times, 'x']);
    const change = (...fields: string[]) => json(['update', id, ...fields]);
    const unchanged = { occurredAt: '2026-05-01T00:00:00.000Z', content: 'x' };
    expect(await change('--expires', 'none')).toMatchObject({ ...unchanged, expiresAt: null });
    expect(await change('--occurred', 'none')).toMatchObject({ content: 'x', occurredAt: null });
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
    const argv = [command, '--user', userId, ...times, ...more];
    const { items }: { items: Memory[] } = await json(argv);
    return items.map(({ content }) => content.slice('trip of '.length)).sort();
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

describe('a key created by memory keys create', () => {
  const create = async (...kind: string[]) => {
    const argv = ['keys', 'create', '--name', 'agent', '--database', server.databaseUrl, ...kind];
    const { stdout, stderr } = await memory(argv);
    const key = stdout.trim();
    return { stderr, as: memoryAt({ ...server, key }), key };
  };

  test('created with --user needs no --user, and a key without one gets a hint', async () => {
    const userId = 'bound';
    const { as } = await create('--user', userId);
    const writes: [string[], unknown][] = [
      [['save', '-'], 'A saved zebra'],
      [['ingest', 'support', '-', '--wait'], { data: { subject: 'A zebra ticket', comments: [] } }],
      [['ingest', 'chat', '-', '--wait'], [{ role: 'user', content: 'A zebra chat' }]],
      [['ingest', 'document', '-', '--wait'], 'About a zebra'],
    ];
    for (const [argv, input] of writes) {
      const stdin = JSON.stringify(input);
      expect({ argv, ...(await as(argv, { stdin })) }).toMatchObject({ argv, code: 0 });
      const refused = await memoryAt(server)(argv, { stdin });
      expect({ argv, code: refused.code }).not.toEqual({ argv, code: 0 });
      expect(refused.stderr).toContain('--user <id>');
    }
    expect((await as(['ingest', 'document', '-', '--dry-run'], { stdin: 'text' })).code).toBe(0);
    const { items }: Page = JSON.parse((await as(['list', '--json'])).stdout);
    expect(items.map((one) => one.userId)).toEqual(writes.map(() => userId));
    expect(lines((await as(['search', 'zebra'])).stdout)).not.toEqual([]);
    const ran = await memoryAt(server)(['list']);
    expectRan(ran, 1, 'Error: userId: is required.\nSpecify the user: --user <id>');
  });
});

test('a user, a source and an external id may have 256 characters', async () => {
  const long = 'é'.repeat(256);
  const named = ['--user', long, '--source', long, '--external-id', long];
  const saved = await json(['save', ...named, 'x']);
  expect(saved).toMatchObject({ userId: long, source: long, externalId: long });
});
