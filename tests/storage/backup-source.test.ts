import { expect, test } from 'bun:test';
import { copyFileSync, readFileSync } from 'node:fs';
import { backupDatabase } from '../../server/storage/sqlite/admin/backup.ts';
import { diagnose } from '../../server/storage/sqlite/admin/doctor.ts';
import { countIn, openInFolder, saveMany } from './sqlite.ts';

function backUp(path: string): void {
  expect(backupDatabase(path, `${path}.backup`).memories).toBe(20);
  expect(countIn(`${path}.backup`)).toBe(20);
}

test.each<[name: string, read: (path: string) => void]>([
  ['a backup', backUp],
  ['the doctor', (path) => void diagnose(path, Date.now())],
])('%s changes neither the database file nor the log of a killed server', async (_, read) => {
  await using opened = await openInFolder();
  await saveMany(opened.storage, 20);
  const killed = `${opened.path}.killed`;
  for (const part of ['', '-wal']) copyFileSync(opened.path + part, killed + part);
  const bytes = () => [readFileSync(killed), readFileSync(`${killed}-wal`)];
  const before = bytes();
  read(killed);
  expect(bytes()).toEqual(before);
});
