import { expect, test } from 'bun:test';
import { copyFileSync, readFileSync } from 'node:fs';
import { backupDatabase } from '../../server/storage/sqlite/admin/backup.ts';
import { countIn, openInFolder, saveMany } from './sqlite.ts';

test('a backup of a killed server changes neither the database file nor its log', async () => {
  await using opened = await openInFolder();
  await saveMany(opened.storage, 20);
  const killed = `${opened.path}.killed`;
  for (const part of ['', '-wal']) copyFileSync(opened.path + part, killed + part);
  const bytes = () => [readFileSync(killed), readFileSync(`${killed}-wal`)];
  const before = bytes();
  expect(backupDatabase(killed, `${killed}.backup`).memories).toBe(20);
  expect(bytes()).toEqual(before);
  expect(countIn(`${killed}.backup`)).toBe(20);
});
