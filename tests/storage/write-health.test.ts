import { expect, test } from 'bun:test';
import { statSync } from 'node:fs';
import { inOtherProcess, openInFolder, saveOne, withSmallFiles } from './sqlite.ts';

/** A program that fills its disk page by page and prints the fault in the following second. */
const fillsDisk = `
  const storage = await openFile(process.env.DATABASE);
  await saveOne(storage, { content: 'x'.repeat(1_800_000) });
  const store = () => storage.maintain({ now: 0, elapsedMs: 1 }).then(() => true, () => false);
  while (await store()) {}
  const faults = [];
  for (let n = 0; n < 10; n += 1) {
    await Bun.sleep(100);
    faults.push((await storage.health()).fault);
  }
  console.log(JSON.stringify(faults));
  process.exit();`;

test.concurrent('a disk error is reported for as long as no write succeeds', async () => {
  await using opened = await openInFolder();
  await opened.storage.close();
  const child = inOtherProcess(fillsDisk, { DATABASE: opened.path }, withSmallFiles);
  const faults: string[] = JSON.parse(await child.stdout.text());
  expect(new Set(faults)).toEqual(new Set(['the disk reported an error']));
});

test.concurrent('an idle storage writes nothing to its log', async () => {
  await using opened = await openInFolder();
  await saveOne(opened.storage);
  const logBytes = () => statSync(`${opened.path}-wal`).size;
  const before = logBytes();
  // The writer thread checks the database file every 500 ms.
  await Bun.sleep(700);
  expect(logBytes()).toBe(before);
});
