import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { straceMissing, tampering } from '../faults/strace.ts';

/* What a process leaves that was refused a database: the file and its log as they were. */

const sqlite = join(import.meta.dir, '../../server/storage/sqlite');
const ours = 'PRAGMA application_id = 0x6d656d6f';

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'memory-refused-'));
  path = join(folder, 'memory.db');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const opens = (exclusive: boolean) => `
  import { openSqlite } from '${sqlite}/open.ts';
  openSqlite(process.env.DATABASE, { exclusive: ${exclusive} });
`;

function run(source: string, under: string[] = []): string {
  const command = [...under, process.execPath, '-e', source];
  const env = { ...process.env, DATABASE: path };
  return Bun.spawnSync(command, { env, timeout: 30_000 }).stderr.toString();
}

const writes = (statements: string[]) => `
  import { Database } from 'bun:sqlite';
  const db = new Database(process.env.DATABASE);
  for (const statement of ${JSON.stringify(statements)}) db.run(statement)`;

/** As a process leaves it that was killed. */
function leave(source: string): void {
  run(`${source}; process.kill(process.pid, 'SIGKILL');`);
}

function bytes(): { file: string; log: string } {
  return { file: hash(path), log: hash(`${path}-wal`) };
}

function hash(file: string): string {
  return existsSync(file) ? Bun.hash(readFileSync(file)).toString(16) : 'none';
}

const inLog = (statements: string[]) => [
  'PRAGMA journal_mode = WAL',
  'CREATE TABLE t (x)',
  ...statements,
];

const files = {
  'was written by a newer version': [ours, 'PRAGMA user_version = 999'],
  'is a database of another program': ['PRAGMA user_version = 7'],
  'is damaged': [
    ours,
    'PRAGMA user_version = 1',
    'CREATE TABLE positive (x CHECK (x > 0))',
    'PRAGMA ignore_check_constraints = 1',
    'INSERT INTO positive VALUES (-1)',
  ],
};

for (const [refusal, statements] of Object.entries(files)) {
  describe(`a file that ${refusal}`, () => {
    for (const exclusive of [false, true]) {
      const who = exclusive ? 'server' : 'command';
      test(`stays as it is beside who has it open, refused to a ${who}`, () => {
        const db = new Database(path);
        for (const statement of inLog(statements)) db.run(statement);
        const before = bytes();
        expect(run(opens(exclusive))).toContain(refusal);
        expect(bytes()).toEqual(before);
        db.close(true);
      });

      test(`keeps its log where nobody has it open, refused to a ${who}`, () => {
        leave(writes(inLog(statements)));
        const before = bytes();
        expect(run(opens(exclusive))).toContain(refusal);
        expect(bytes()).toEqual(before);
      });
    }
  });
}

describe.if(straceMissing() === null)('a log that the disk does not take', () => {
  test('is not written into the file by who is refused for it', () => {
    leave(opens(true));
    const before = bytes();
    expect(before.log).not.toBe('none');
    const refused = run(opens(true), tampering(['fdatasync'], 'error=EIO:when=1+'));
    expect(refused).toContain('the disk reports a fault');
    expect(bytes()).toEqual(before);
    // Nor may a start that goes well find it missing.
    expect(run(opens(true))).toBe('');
  });
});
