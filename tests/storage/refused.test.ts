import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { path, withFiles } from './files.ts';
import { inOtherProcess } from './sqlite.ts';

/* A process that rejects a database leaves the file and its write-ahead log unchanged. */

const ours = 'PRAGMA application_id = 0x6d656d6f';

withFiles(() => {});

const opens = {
  server: `await openFile(process.env.DATABASE); process.kill(process.pid, 'SIGKILL');`,
  command: 'await openKeys(process.env.DATABASE, { create: true });',
};

/** Runs the source and returns the error message, if any, that Bun prints below the source line. */
async function run(source: string): Promise<string> {
  const shown = await inOtherProcess(source, { DATABASE: path }).stderr.text();
  return /^error: [\s\S]*/m.exec(shown)?.[0] ?? '';
}

const writes = (statements: string[]) => `
  import { Database } from 'bun:sqlite';
  const db = new Database(process.env.DATABASE);
  for (const statement of ${JSON.stringify(statements)}) db.run(statement)`;

/** Runs the statements in a process that is then killed, so that the write-ahead log remains. */
async function leave(statements: string[]): Promise<void> {
  await run(`${writes(statements)}; process.kill(process.pid, 'SIGKILL');`);
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

type Who = keyof typeof opens;

const damage = [
  ours,
  'PRAGMA user_version = 5',
  'CREATE TABLE positive (x CHECK (x > 0))',
  'PRAGMA ignore_check_constraints = 1',
  'INSERT INTO positive VALUES (-1)',
];
const everybody: Who[] = ['server', 'command'];
const files: [refusal: string, statements: string[], who: Who[]][] = [
  ['was written by a newer version', [ours, 'PRAGMA user_version = 999'], everybody],
  ['was written by a pre-release version', [ours, 'PRAGMA user_version = 1'], everybody],
  ['is the database of another program', ['PRAGMA user_version = 7'], everybody],
  // Commands do not check the whole file.
  ['is damaged', damage, ['server']],
];

for (const [refusal, statements, who] of files) {
  describe(`a file that ${refusal}`, () => {
    for (const opener of who) {
      test(`is rejected by a ${opener} and not changed while another program has it open`, async () => {
        const db = new Database(path);
        for (const statement of inLog(statements)) db.run(statement);
        const before = bytes();
        expect(await run(opens[opener])).toContain(refusal);
        expect(bytes()).toEqual(before);
        db.close(true);
      });

      test(`is rejected by a ${opener} and keeps its write-ahead log`, async () => {
        await leave(inLog(statements));
        const before = bytes();
        expect(await run(opens[opener])).toContain(refusal);
        expect(bytes()).toEqual(before);
      });
    }
  });
}

/** Returns a program that opens the database with an SQLite that reports another version. */
const openWith = (version: string) => `
  import { Database } from 'bun:sqlite';
  const { prepare } = Database.prototype;
  Database.prototype.prepare = function prepareOlder(sql, ...more) {
    return prepare.call(this, sql.replace('sqlite_version()', "'${version}'"), ...more);
  };
  ${opens.server}`;

test.each(['2.52.4', '3.7.17.1', '3.50.9', '3.51.2'])('SQLite %s is too old', async (version) => {
  const refusal = `SQLite ${version} is too old: 3.51.3 or newer is required`;
  expect(await run(openWith(version))).toContain(refusal);
});

test.each(['3.51.3', '3.51.3.1', '3.52.0', '4.0.0'])('SQLite %s is accepted', async (version) => {
  expect(await run(openWith(version))).toBe('');
  expect(existsSync(`${path}-wal`)).toBe(true);
});
