import { expect, test } from 'bun:test';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import type { Storage } from '../../server/storage/storage.ts';
import { withFolder } from '../support/folder.ts';
import { createRandom } from '../support/random.ts';
import { memory, newProject } from './fixtures.ts';
import { openFile } from './sqlite.ts';

/*
 * A database of which parts are overwritten, exchanged or missing. Changed text inside a row cannot
 * be detected, because SQLite files have no checksums.
 */

const seed = Number(process.env.DAMAGE_SEED ?? Math.floor(Math.random() * 2 ** 31));
const random = createRandom(seed);
const trials = Number(process.env.DAMAGE_TRIALS ?? 6);
const memories = 400;
const pageBytes = 4_096;

const folder = withFolder();
const sound = folder.file('sound.db');
/** As a killed server leaves it, with the last writes in its log only. */
const killed = folder.file('killed.db');

const storage = await openFile(sound);
const project = await newProject({ storage }, 'damaged');
for (let at = 0; at < memories; at += 1) {
  await project.save(memory({ content: `${at} ${'some text '.repeat(at % 30)}` }), { at });
}
const contents = await contentsOf(storage);
expect(contents).toHaveLength(memories);
for (const part of ['', '-wal']) copyFileSync(sound + part, killed + part);
await storage.close();

async function contentsOf(storage: Storage): Promise<string[]> {
  const project = await newProject({ storage }, 'damaged');
  return (await project.list('u', { order: 'asc' })).map(({ content }) => content);
}

/** Returns where a page begins. The first page is only damaged by 'the header'. */
function anyPage({ length }: Buffer): number {
  return random.between(1, Math.floor(length / pageBytes)) * pageBytes;
}

function overwrite(bytes: Buffer, from: number, length: number): Buffer {
  return bytes.fill(random.between(0, 256), from, from + length);
}

function exchangePages(bytes: Buffer): Buffer {
  const [one, other] = [anyPage(bytes), anyPage(bytes)];
  const first = Buffer.from(bytes.subarray(one, one + pageBytes));
  bytes.copy(bytes, one, other, other + pageBytes);
  first.copy(bytes, other);
  return bytes;
}

const damages: [what: string, damage: (bytes: Buffer) => Buffer][] = [
  ['the header', (bytes) => overwrite(bytes, random.between(0, 80), 16)],
  ['a page', (bytes) => overwrite(bytes, anyPage(bytes), pageBytes)],
  ['the order of pages', exchangePages],
  ['the end', (bytes) => bytes.subarray(0, anyPage(bytes) - random.between(0, pageBytes))],
];

test.each(damages)(
  'a file with damage to %s is not opened, or has all memories',
  async (_, damage) => {
    for (let trial = 0; trial < trials; trial += 1) {
      const path = folder.file(`${crypto.randomUUID()}.db`);
      writeFileSync(path, damage(readFileSync(sound)));
      const storage = await openFile(path).catch(() => null);
      if (storage === null) continue;
      const found = await contentsOf(storage).catch(String);
      await storage.close();
      expect({ seed, trial, found }).toEqual({ seed, trial, found: contents });
    }
  },
);

test('damage to the log of a killed server loses only the writes from there on', async () => {
  for (let trial = 0; trial < trials; trial += 1) {
    const path = folder.file(`${crypto.randomUUID()}.db`);
    copyFileSync(killed, path);
    const log = readFileSync(`${killed}-wal`);
    writeFileSync(`${path}-wal`, overwrite(log, anyPage(log), pageBytes));
    const storage = await openFile(path);
    const found = await contentsOf(storage);
    await storage.close();
    expect({ seed, trial, found }).toEqual({ seed, trial, found: contents.slice(0, found.length) });
    expect(found.length).toBeLessThan(memories);
  }
});
