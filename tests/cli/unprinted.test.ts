import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { temporaryFolder } from '../support/folder.ts';
import { withProject } from '../support/server.ts';
import { expectRan, memory } from './command.ts';
import { startService } from './service.ts';
import { shellAt } from './shell.ts';

/* A command completes its work even if its output is closed or the disk is full. */

const server = await withProject();

const shell = shellAt(server);

/** Runs a command whose stdout is a pipe without a reader. */
async function unread(command: string, env: Record<string, string> = {}) {
  const line = `exec 3> >(true); wait $!; { ${command}; } >&3`;
  const { code, stderr } = await shell(line, env).ended;
  return { code, stderr };
}

const toFullDisk = (command: string, env: Record<string, string> = {}) =>
  shell(`${command} >/dev/full`, env).ended;

describe('memory ingest document', () => {
  const count = 12;

  function folderOf(userId: string) {
    const folder = temporaryFolder();
    mkdirSync(folder.file('many'));
    for (let at = 0; at < count; at += 1) writeFileSync(folder.file(`many/${at}.md`), `text ${at}`);
    const stored = async () => (await server.client.list({ userId })).items.length;
    const command = `cd ${folder.path}; $MEMORY ingest document --user ${userId} many`;
    return { ...folder, stored, command };
  }

  test.each(['', ' --json'])(
    'continues if the pipe is closed: exit 0, all are stored%s',
    async (as) => {
      using folder = folderOf(`left${as.trim()}`);
      expect(await unread(folder.command + as)).toEqual({
        code: 0,
        stderr: `${count} accepted, 0 failed.\n`,
      });
      expect(await folder.stored()).toBe(count);
    },
  );

  test('still fails if a file fails and the pipe is closed', async () => {
    using folder = folderOf('bad');
    expectRan(await unread(`${folder.command} none.md`), 1, `${count} accepted, 1 failed.\n`);
  });

  test.each(['', ' --json'])(
    'continues if the disk is full, and reports the full disk: exit 1%s',
    async (as) => {
      using folder = folderOf(`full${as.trim()}`);
      const ran = await toFullDisk(folder.command + as);
      expectRan(ran, 1, `${count} accepted, 0 failed.\nError: ENOSPC`);
      expect(await folder.stored()).toBe(count);
    },
  );
});

describe('a failure keeps its exit code if stdout is closed', () => {
  const bad = `printf '%s\\n' '{}' |`;
  test.each([
    ['of a batch', `${bad} $MEMORY ingest batch - --json`, 1],
    ['of a dry run', `${bad} $MEMORY ingest batch - --dry-run`, 1],
    ['of an import', `${bad} $MEMORY import -`, 1],
  ])('%s', async (_, command, code) => {
    expect((await unread(command)).code).toBe(code);
  });

  test.each(['', ' --json'])('of a wait%s', async (as) => {
    expect((await unread(`$MEMORY wait mem_1 mem_2${as}`)).code).toBe(3);
  });

  test.each(['', ' --json'])('of a health check%s', async (as) => {
    await using failing = startService(() => Response.json({ status: 'failing' }, { status: 503 }));
    expect((await unread(`$MEMORY health${as}`, failing.env)).code).toBe(1);
  });

  test.each(['', ' --json'])('of doctor%s', async (as) => {
    using folder = temporaryFolder();
    const path = folder.file('new.db');
    await memory(['keys', 'create', '--database', path]);
    const database = new Database(path);
    database.run(`INSERT INTO snapshots (project_id, user_id, data) VALUES (1, 'eve', x'')`);
    database.close();
    expect((await unread(`$MEMORY doctor --database ${path}${as}`)).code).toBe(1);
  });
});

describe('a full disk: stderr reports what was created', () => {
  test.each(['', ' --json', ' --wait'])('a queued record%s', async (as) => {
    const user = `queued${as.trim()}`;
    const command = `echo text | $MEMORY ingest document --user ${user} -${as}`;
    const ran = await toFullDisk(command);
    const { items } = await server.client.list({ userId: user });
    expectRan(ran, 1, `memory wait ${items[0]?.id}\n`, 'Error: ENOSPC');
  });

  test('the id of a key', async () => {
    using folder = temporaryFolder();
    const database = `sqlite:${folder.file('new.db')}`;
    const { code, stderr } = await toFullDisk(`$MEMORY keys create --database ${database}`);
    expect(code).toBe(1);
    const listed = await memory(['keys', 'list', '--json', '--database', database]);
    const [{ id = '' } = {}] = JSON.parse(listed.stdout).items;
    expect(stderr).toContain(`Created key ${id} in project default.`);
    expect(stderr).not.toMatch(/mk_\w{16}/);
  });
});
