import { expect, test } from 'bun:test';
import { copyFileSync, readFileSync } from 'node:fs';
import { backUp, countIn, diagnoseFile, openInFolder, saveMany } from './sqlite.ts';

async function backUpAll(path: string): Promise<void> {
  expect((await backUp(path, `${path}.backup`)).memories).toBe(20);
  expect(countIn(`${path}.backup`)).toBe(20);
}

test.each<[name: string, read: (path: string) => Promise<unknown>]>([
  ['a backup', backUpAll],
  ['the doctor', (path) => diagnoseFile(path)],
])('%s changes neither the database file nor the log of a killed server', async (_, read) => {
  await using opened = await openInFolder();
  await saveMany(opened.storage, 20);
  const killed = `${opened.path}.killed`;
  for (const part of ['', '-wal']) copyFileSync(opened.path + part, killed + part);
  const bytes = () => [readFileSync(killed), readFileSync(`${killed}-wal`)];
  const before = bytes();
  await read(killed);
  expect(bytes()).toEqual(before);
});
