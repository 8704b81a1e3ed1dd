import { describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { straceMissing } from '../faults/strace.ts';
import { until } from '../support/until.ts';
import { backUp, countIn, fill, inOtherProcess, openFile, restore, saveMany } from './sqlite.ts';

/* A command opens the database while a restore replaces the file. */

const delayMicros = 1_500_000;
const createsKey = `
  const admin = await openKeys(process.env.DATABASE, { create: true });
  await admin.createKey({ name: 'late', project: 'default' });
  await admin.close();
`;

/** Starts a command that opens the file and acquires its first SQLite lock after a delay. */
async function startSlowCommand(path: string, folder: string) {
  const calls = join(folder, 'calls');
  const delay = `inject=fcntl:delay_enter=${delayMicros}:when=1`;
  const traced = ['strace', '-f', '-o', calls, '-P', path, '-e', 'trace=fcntl,openat', '-e', delay];
  const command = inOtherProcess(createsKey, { DATABASE: path }, traced);
  await until(() => existsSync(calls) && readFileSync(calls, 'utf8').includes('fcntl('));
  return command;
}

describe.if(straceMissing() === null)('a command that opens the database during a restore', () => {
  test("does not write the new file's log into the old file", async () => {
    const folder = mkdtempSync(join(tmpdir(), 'memory-replaced-'));
    try {
      const path = join(folder, 'memory.db');
      await fill(path, 3);
      await backUp(path, join(folder, 'backup.db'));
      await fill(path, 200);
      const command = await startSlowCommand(path, folder);
      const { kept } = await restore(join(folder, 'backup.db'), path);
      const server = await openFile(path);
      await saveMany(server, 20);
      expect(await command.exited).toBe(0);
      await saveMany(server, 20);
      await server.close();
      expect(countIn(path)).toBe(43);
      expect(countIn(kept ?? '')).toBe(203);
      expect(countIn(kept ?? '', 'api_keys')).toBe(1);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
