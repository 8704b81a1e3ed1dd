import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const sqlite = join(import.meta.dir, '../../server/storage/sqlite');
const writes = `
  import { leaveOpen } from '${sqlite}/leave-open.ts';
  import { openDatabase } from '${sqlite}/settings.ts';
  const db = openDatabase(process.env.DATABASE);
  db.run('CREATE TABLE written (x)');
`;
const leaves = `${writes} leaveOpen(db);`;
const asFirst = ['unshare', '--user', '--map-root-user', '--pid', '--fork', '--mount-proc'];
const hasUnshare =
  Bun.which('unshare') !== null && Bun.spawnSync([...asFirst, 'true']).exitCode === 0;

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'memory-leave-open-'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(source: string, under: string[] = []) {
  const path = join(folder, `${crypto.randomUUID()}.db`);
  const command = [...under, process.execPath, '-e', source];
  const { exitCode, stderr } = Bun.spawnSync(command, { env: { ...process.env, DATABASE: path } });
  return { exitCode, stderr: stderr.toString(), hasLog: existsSync(`${path}-wal`) };
}

describe('a database that is left open', () => {
  test('keeps its log when the process ends, which is lost otherwise', () => {
    expect(run(writes)).toEqual({ exitCode: 0, stderr: '', hasLog: false });
    expect(run(leaves)).toMatchObject({ stderr: '', hasLog: true });
  });

  test.if(hasUnshare)('keeps it in the first process of a container', () => {
    expect(run(leaves, asFirst)).toEqual({ exitCode: 137, stderr: '', hasLog: true });
  });
});
