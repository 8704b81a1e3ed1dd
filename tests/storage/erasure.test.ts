import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { indexPassages } from '../../server/memory/passages.ts';
import { diagnose } from '../../server/storage/sqlite/doctor.ts';
import { openSqlite } from '../../server/storage/sqlite/open.ts';
import { createScrubber } from '../../server/storage/sqlite/scrub.ts';
import { openDatabase } from '../../server/storage/sqlite/settings.ts';
import type { Storage } from '../../server/storage/storage.ts';
import { createRandom } from '../support/random.ts';
import { until } from '../support/until.ts';
import { accept, list, memory, processNext, record, remove, save, update } from './fixtures.ts';

/*
 * The right to erasure is about the disk, not about what the API shows: after the scrub nothing of
 * the text is in any byte of the database or its log.
 */

const canary = /canary|c4n4ry/gi;
let folder: string;
let path: string;
let storage: Storage;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'memory-erasure-'));
  path = join(folder, 'memory.db');
  storage = openSqlite(path, { exclusive: true });
});

afterEach(async () => {
  await storage.close();
  rmSync(folder, { recursive: true, force: true });
});

/** In another process: reading the files in this one would drop SQLite's locks on them. */
function hits(): number {
  const read = `
    const text = process.argv.slice(1).map((f) => {
      try { return require('node:fs').readFileSync(f, 'latin1'); } catch { return ''; }
    }).join('');
    console.log((text.match(${canary}) ?? []).length)`;
  const child = Bun.spawnSync([process.execPath, '-e', read, path, `${path}-wal`]);
  return Number(child.stdout.toString());
}

function choresLeft(): number {
  const db = new Database(path, { readonly: true });
  const { n } = db.prepare('SELECT count(*) AS n FROM chores').get() as { n: number };
  db.close();
  return n;
}

function text(userId: string, length: number): string {
  return `${userId === 'gone' ? 'Canary' : 'Other'} ${'word '.repeat(length)}`;
}

type Idempotency = { key: string; fingerprint: string } | null;

function erase(idempotency: Idempotency = null) {
  const answer = () => ({ status: 200, body: '' });
  return storage.deleteAllMemories({ projectId: 1, at: 1, idempotency, userId: 'gone', answer });
}

test('an erased user leaves nothing on the disk, whatever moved about before', async () => {
  const random = createRandom(20_261_120);
  const users = ['gone', 'a', 'b', 'c', 'zz'];
  const saved: { id: string; userId: string }[] = [];
  for (let n = 0; n < 600; n += 1) {
    const userId = random.pick(users);
    const content = text(userId, random.between(0, 200));
    const metadata = JSON.stringify({ tag: userId === 'gone' ? 'c4n4ry' : 'x' });
    const passages = indexPassages(content, metadata);
    const given = memory({ userId, content, metadata, passages });
    await save(storage, given, { idempotency: { key: `k${n}`, fingerprint: 'f' } });
    saved.push(given);
    const other = random.pick(saved);
    if (random.chance(0.3)) {
      await update(storage, other.id, text(other.userId, random.between(0, 300)));
    }
  }
  await accept(storage, [record({ userId: 'gone', content: text('gone', 5_000) })]);
  await processNext(storage);
  for (const { id, userId } of saved.slice(0, 50)) {
    if (userId === 'gone') await remove(storage, id);
  }
  expect(hits()).toBeGreaterThan(100);
  await erase();
  await until(() => hits() === 0, { what: 'the scrub' });
  const left = await storage.exportMemories({
    projectId: 1,
    after: null,
    limit: 999,
  });
  expect(left.length).toBe(saved.filter(({ userId }) => userId !== 'gone').length);
});

test('a scrub ends while others save all the time', async () => {
  await save(storage, memory({ userId: 'gone', content: text('gone', 10) }));
  await erase();
  let saving = true;
  async function keepSaving(): Promise<void> {
    while (saving) await save(storage, memory({ userId: 'a', content: text('a', 2_000) }));
  }
  const savers = Array.from({ length: 8 }, keepSaving);
  await until(() => choresLeft() === 0, { what: 'the scrub' });
  saving = false;
  await Promise.all(savers);
});

test('a scrub that a crash kept from ending is done after the next start', async () => {
  await save(storage, memory({ userId: 'gone', content: text('gone', 10) }));
  await erase();
  // Before the scrub begins.
  await storage.close();
  expect(erasureFound()).toBe('warning');
  storage = openSqlite(path, { exclusive: true });
  await until(() => hits() === 0 && choresLeft() === 0, { what: 'the scrub' });
  expect(erasureFound()).toBeUndefined();
});

test('a replay of an erasure sees to it that the scrub ends', async () => {
  const idempotency = { key: 'k', fingerprint: 'f' };
  await erase(idempotency);
  await until(() => choresLeft() === 0, { what: 'the scrub' });
  // As after a sync that failed: the first answer said that nobody knows the outcome.
  const beside = new Database(path);
  beside.run(`INSERT INTO chores (name) VALUES ('scrub')`);
  beside.close(true);
  expect(await erase(idempotency)).toMatchObject({ replayed: true });
  await until(() => choresLeft() === 0, { what: 'the scrub' });
});

test('an erasure that a stop finds unfinished wakes nothing after it', async () => {
  // The start has looked for itself.
  await Bun.sleep(1_500);
  const erasing = erase();
  await storage.close();
  await erasing;
  // A scrub now would meet a closed database, in nobody's call.
  await Bun.sleep(1_500);
  storage = openSqlite(path, { exclusive: true });
  await until(() => choresLeft() === 0, { what: 'the scrub' });
});

test('a scrub waits until a log that failed is mended', async () => {
  // Its own would be the first.
  await storage.close();
  const connections = { reads: openDatabase(path), writes: openDatabase(path) };
  let keepsLog = true;
  const faults = { keepsLog: () => keepsLog, report: () => {} };
  const scrubber = createScrubber(connections, path, faults);
  scrubber.note();
  scrubber.wake();
  await Bun.sleep(1_500);
  expect(choresLeft()).toBe(1);
  keepsLog = false;
  await until(() => choresLeft() === 0, { what: 'the scrub' });
  scrubber.stop();
  storage = openSqlite(path, { exclusive: true });
});

test('reads go on while a user of many memories is erased, and see all or nothing', async () => {
  const many = 10_000;
  const records = Array.from({ length: many }, () => record({ userId: 'gone' }));
  await accept(storage, records);
  let erased = false;
  const erasing = erase().then(() => {
    erased = true;
  });
  const seen: number[] = [];
  while (!erased) {
    seen.push((await list(storage, { userId: 'gone', limit: many })).length);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await erasing;
  expect(seen.filter((n) => n !== 0 && n !== many)).toEqual([]);
  expect(seen.length).toBeGreaterThan(10);
});

/** What an operator is told of text that may still be there. */
function erasureFound() {
  return diagnose(path, Date.now()).find(({ name }) => name === 'erasure')?.level;
}

test('nothing is left of memories that were deleted one by one before their user was', async () => {
  const given = Array.from({ length: 40 }, (_, n) =>
    memory({ userId: 'gone', content: text('gone', n) }),
  );
  for (const one of given) await save(storage, one);
  for (const { id } of given) await remove(storage, id);
  expect(hits()).toBeGreaterThan(0);
  await erase();
  await until(() => hits() === 0, { what: 'the scrub' });
});

test('others save while a scrub waits for somebody who reads, and it ends after them', async () => {
  await save(storage, memory({ userId: 'gone', content: text('gone', 10) }));
  const reader = new Database(path, { readonly: true });
  reader.run('BEGIN');
  const look = reader.prepare('SELECT count(*) FROM memories');
  look.get();
  await erase();
  let slowestMs = 0;
  for (const until = performance.now() + 4_000; performance.now() < until; await Bun.sleep(10)) {
    const begun = performance.now();
    await save(storage, memory({ userId: 'a', content: 'meanwhile' }));
    slowestMs = Math.max(slowestMs, performance.now() - begun);
  }
  expect(choresLeft()).toBe(1);
  expect(slowestMs).toBeLessThan(2_000);
  look.finalize();
  reader.close(true);
  await until(() => choresLeft() === 0 && hits() === 0, { what: 'the scrub' });
}, 20_000);
