import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { backupDatabase, restoreDatabase } from '../../server/storage/sqlite/backup.ts';
import { openSqlite } from '../../server/storage/sqlite/open.ts';
import type { Storage } from '../../server/storage/storage.ts';
import { straceMissing } from '../faults/strace.ts';
import { until } from '../support/until.ts';
import { memory, save } from './fixtures.ts';

/* A command that opens the database just while a restore replaces it. */

const delayMicros = 1_500_000;
const createsKey = `
  import { openAdmin } from '${join(import.meta.dir, '../../server/admin.ts')}';
  const admin = await openAdmin('sqlite:' + process.env.DATABASE);
  await admin.createKey({ name: 'late', project: 'default' });
  await admin.close();
`;

async function add(storage: Storage, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await save(storage, memory({ content: `text ${n}` }));
}

async function fill(path: string, count: number): Promise<void> {
  const storage = openSqlite(path, { exclusive: true });
  await add(storage, count);
  await storage.close();
}

function countIn(file: string, table: 'memories' | 'api_keys'): number {
  const db = new Database(file, { readonly: true });
  try {
    expect(db.prepare('PRAGMA integrity_check').values()).toEqual([['ok']]);
    return Number(db.prepare(`SELECT count(*) FROM ${table}`).values()[0]?.[0]);
  } finally {
    db.close(true);
  }
}

/** Which has opened the file, and takes no lock of SQLite's on it for a while. */
async function startSlowCommand(path: string, folder: string) {
  const calls = join(folder, 'calls');
  const delay = `inject=fcntl:delay_enter=${delayMicros}:when=1`;
  const traced = ['strace', '-f', '-o', calls, '-P', path, '-e', 'trace=fcntl,openat', '-e', delay];
  const command = Bun.spawn([...traced, process.execPath, '-e', createsKey], {
    env: { ...process.env, DATABASE: path },
    stderr: 'inherit',
  });
  await until(() => existsSync(calls) && readFileSync(calls, 'utf8').includes('fcntl('));
  return command;
}

describe.if(straceMissing() === null)('a command that has only just opened the database', () => {
  test('is not left with the old file and the log of the new one', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'memory-replaced-'));
    try {
      const path = join(folder, 'memory.db');
      await fill(path, 3);
      backupDatabase(path, join(folder, 'backup.db'));
      await fill(path, 200);
      const command = await startSlowCommand(path, folder);
      const { kept } = restoreDatabase(join(folder, 'backup.db'), path, 'now');
      const server = openSqlite(path, { exclusive: true });
      await add(server, 20);
      expect(await command.exited).toBe(0);
      await add(server, 20);
      await server.close();
      expect(countIn(path, 'memories')).toBe(43);
      expect(countIn(kept ?? '', 'memories')).toBe(203);
      expect(countIn(kept ?? '', 'api_keys')).toBe(1);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
