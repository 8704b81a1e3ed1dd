import { Database } from 'bun:sqlite';
import { afterAll, describe, expect, test } from 'bun:test';
import { OutputClosed } from '../../cli/terminal/process-output.ts';
import { withFolder } from '../support/folder.ts';
import { expectRan, withMemory } from './command.ts';
import { foldersFor } from './folder.ts';
import { startService } from './service.ts';

/*
 * A command completes its work even if its output is closed or the disk is full. process.test.ts
 * runs commands with such an output.
 */

const { server, memory } = await withMemory();
const inFolder = foldersFor(memory);

const closed = new OutputClosed();
const full = new Error('ENOSPC: no space left on device, write');

const folder = withFolder();
const damaged = folder.file('damaged.db');
await memory(['keys', 'create', '--database', damaged]);
using database = new Database(damaged);
database.run(`INSERT INTO snapshots (project_id, user_id, data) VALUES (1, 'eve', x'')`);
const failing = startService(() => Response.json({ status: 'failing' }, { status: 503 }));
afterAll(() => failing[Symbol.asyncDispose]());

const texts = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`many/${at}.md`, `${at}`]));
const accepted = /^12 accepted, 0 failed\.\n$/;
const thenFull = '12 accepted, 0 failed.\nError: ENOSPC';

test.each([
  ['closed', closed, ['many'], 0, accepted],
  ['closed: JSON', closed, ['many', '--json'], 0, accepted],
  ['closed, and a file fails', closed, ['many', 'none.md'], 1, '12 accepted, 1 failed.\n'],
  ['full', full, ['many'], 1, thenFull],
  ['full: JSON', full, ['many', '--json'], 1, thenFull],
])('ingest document stores all if stdout is %s', async (userId, unprinted, argv, code, said) => {
  using folder = inFolder(userId, texts);
  expectRan(await folder.ingest(argv, { unprinted }), code, said);
  expect((await server.client.list({ userId })).items).toHaveLength(12);
});

test.each([
  ['ingest batch - --json', 1],
  ['ingest batch - --dry-run', 1],
  ['import -', 1],
  ['wait mem_1 mem_2', 3],
  ['wait mem_1 mem_2 --json', 3],
  ['health', 1],
  ['health --json', 1],
  ['doctor', 1],
  ['doctor --json', 1],
])('a failure of memory %s keeps its exit code %d if stdout is closed', async (line, code) => {
  const env = { MEMORY_DATABASE_URL: damaged, ...(line.startsWith('health') && failing.env) };
  const around = { stdin: '{}\n', unprinted: closed, env };
  expect((await memory(line.split(' '), around)).code).toBe(code);
});

describe('a full disk: stderr reports what was created', () => {
  test.each(['', '--json', '--wait'])('a queued record %s', async (flag) => {
    const userId = `queued${flag}`;
    const argv = ['ingest', 'document', '--user', userId, '-', flag].filter(Boolean);
    const ran = await memory(argv, { stdin: 'text', unprinted: full });
    const { items } = await server.client.list({ userId });
    expectRan(ran, 1, `memory wait ${items[0]?.id}\n`, 'Error: ENOSPC');
  });

  test('the id of a key', async () => {
    const database = ['--database', folder.file('new.db')];
    const ran = await memory(['keys', 'create', ...database], { unprinted: full });
    const { stdout } = await memory(['keys', 'list', '--json', ...database]);
    expectRan(ran, 1, `Created key ${JSON.parse(stdout).items[0]?.id} in project default.`);
    expect(ran.stderr).not.toMatch(/mk_\w{16}/);
  });
});
