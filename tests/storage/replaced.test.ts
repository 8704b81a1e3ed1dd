import { describe, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { straceMissing } from '../faults/strace.ts';
import { temporaryFolder } from '../support/folder.ts';
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
async function startSlowCommand(path: string) {
  const calls = `${path}.calls`;
  const delay = `inject=fcntl:delay_enter=${delayMicros}:when=1`;
  const traced = ['strace', '-f', '-o', calls, '-P', path, '-e', 'trace=fcntl,openat', '-e', delay];
  const command = inOtherProcess(createsKey, { DATABASE: path }, traced);
  await until(() => existsSync(calls) && readFileSync(calls, 'utf8').includes('fcntl('));
  return command;
}

describe.if(straceMissing() === null)('a command that opens the database during a restore', () => {
  test("does not write the new file's log into the old file", async () => {
    using folder = temporaryFolder();
    const [path, backup] = [folder.file('memory.db'), folder.file('backup.db')];
    await fill(path, 3);
    await backUp(path, backup);
    await fill(path, 200);
    const command = await startSlowCommand(path);
    const { kept } = await restore(backup, path);
    const server = await openFile(path);
    await saveMany(server, 20);
    expect(await command.exited).toBe(0);
    await saveMany(server, 20);
    await server.close();
    expect(countIn(path)).toBe(43);
    expect(countIn(kept ?? '')).toBe(203);
    expect(countIn(kept ?? '', 'api_keys')).toBe(1);
  });
});
