import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { rejectionOf } from '../support/thrown.ts';
import { until } from '../support/until.ts';
import { memory, newProject } from './fixtures.ts';
import { backUp, countIn, diagnoseFile, openFile, openInFolder, saveMany } from './sqlite.ts';

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

test.each<[name: string, damage: (path: string) => void]>([
  ['cannot be read', fillMiddle],
  ['contradicts its schema', addWrongRow],
])('the error of a backup names the database if it %s', async (_, damage) => {
  await using opened = await openInFolder();
  await saveMany(opened.storage, 20, 'x'.repeat(10_000));
  await opened.storage.close();
  const sick = `${opened.path}.sick`;
  copyFileSync(opened.path, sick);
  damage(sick);
  const { message } = await rejectionOf(backUp(sick, `${sick}.backup`));
  expect(message).toContain(`because ${sick} or the copy of it is damaged`);
  opened.storage = await openFile(opened.path);
});

function fillMiddle(path: string): void {
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.fill(0xff, bytes.length / 2, bytes.length / 2 + 16_384));
}

function addWrongRow(path: string): void {
  const db = new Database(path);
  db.run('CREATE TABLE filled (x CHAR(10))');
  db.run('INSERT INTO filled VALUES (NULL)');
  db.close(true);
  const text = readFileSync(path, 'latin1').replace('x CHAR(10)', 'x NOT NULL');
  writeFileSync(path, text, 'latin1');
}

test('a backup taken under load contains every memory that was stored before it began', async () => {
  await using opened = await openInFolder();
  const project = await newProject(opened);
  const stored: string[] = [];
  let isOver = false;
  const clients = [1, 2, 3, 4].map(async () => {
    while (!isOver) {
      const given = memory();
      await project.save(given);
      stored.push(given.id);
    }
  });
  for (let n = 0; n < 5; n += 1) {
    const before = stored.length;
    await until(() => stored.length > before + 20, { what: 'saves' });
    const expected = [...stored];
    const file = `${opened.path}.${n}`;
    await backUp(opened.path, file);
    using copy = new Database(file, { readonly: true });
    const found = new Set(copy.prepare('SELECT id FROM memories').values().flat());
    expect(expected.filter((id) => !found.has(id))).toEqual([]);
  }
  isOver = true;
  await Promise.all(clients);
});
