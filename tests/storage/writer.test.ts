import type { Database } from 'bun:sqlite';
import { afterEach, beforeEach, expect, spyOn, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAnswers } from '../../server/storage/sqlite/answers.ts';
import { migrate } from '../../server/storage/sqlite/migrate.ts';
import { openDatabase } from '../../server/storage/sqlite/settings.ts';
import { createSnapshot } from '../../server/storage/sqlite/snapshot.ts';
import { createWal, type Wal } from '../../server/storage/sqlite/wal.ts';
import { createWriter, type Writer } from '../../server/storage/sqlite/writer.ts';
import { mapInTurns } from '../../server/turns.ts';
import { until } from '../support/until.ts';

/* What only faults bring about, and no client can. */

let folder: string;
let db: Database;
let reads: Database;
let wal: Wal;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'writer-'));
  const path = join(folder, 'memory.db');
  db = openDatabase(path);
  migrate(db, path);
  reads = openDatabase(path);
  wal = createWal(path);
});

afterEach(() => {
  wal.close();
  reads.close(true);
  db.close(true);
  rmSync(folder, { recursive: true });
});

function open(waitsAside: boolean, ownWal = wal): Writer {
  const snapshot = createSnapshot(reads);
  return createWriter({ db, wal: ownWal, snapshot, waitsAside, committed: () => undefined });
}

const insert = (name: number) => db.run('INSERT INTO projects (name) VALUES (?)', [`p${name}`]);
const stored = () => reads.query<{ n: number }, []>('SELECT count(*) AS n FROM projects').get()?.n;

test('a batch whose transaction ends in the middle stores nothing, not even its answer', async () => {
  for (const others of [0, 1]) {
    const writer = open(true);
    const { answerOnce } = createAnswers(db, writer);
    const names = Array.from({ length: 20_000 }, (_, name) => name);
    const batch = answerOnce(
      {
        projectId: 1,
        at: 1,
        idempotency: { key: 'k', fingerprint: 'f' },
        answer: () => ({ status: 202, body: '' }),
      },
      async (turn) => ({ outcome: await mapInTurns(names, insert, turn) }),
    );
    const beside = Array.from({ length: others }, () => writer.write(() => insert(-1)));
    // As SQLite does where a read by this connection meets a fault of the disk.
    await until(() => db.inTransaction);
    db.run('ROLLBACK');
    const outcomes = await Promise.allSettled([batch, ...beside]);
    expect(outcomes[0]).toMatchObject({ status: 'rejected', reason: { code: 'internal' } });
    const held = outcomes.filter(({ status }) => status === 'fulfilled').length;
    expect(stored()).toBe(held);
    expect(db.query('SELECT * FROM answers').all()).toEqual([]);
    db.run('DELETE FROM projects');
  }
});

test('a log that is mended while nobody writes leaves no transaction open', async () => {
  for (const waitsAside of [true, false]) {
    const writer = open(waitsAside);
    const failing = writer.write(() => {
      wal.noteFault();
      throw new Error('a sync failed');
    });
    await expect(failing).rejects.toThrow('a sync failed');
    await until(() => !wal.hasFailed());
    expect(db.inTransaction).toBe(false);
    await writer.write(() => insert(Number(waitsAside)));
  }
  expect(stored()).toBe(2);
});

/** A writer that has met a disk that takes so long, by a clock of its own, and how many commits it
 * did not leave to COMMIT to wait for since then. */
async function openOn(diskMs: number) {
  let synced = 0;
  let ms = performance.now();
  const clock = spyOn(performance, 'now').mockImplementation(() => ms);
  const sync = async () => {
    synced += 1;
    ms += diskMs;
    await wal.sync();
  };
  const writer = open(true, { ...wal, sync });
  // Two at once: a group, whose sync is not in COMMIT.
  await Promise.all([1, 2].map((name) => writer.write(() => insert(name))));
  return {
    writer,
    syncedSince: () => synced - 1,
    pass(passedMs: number) {
      ms += passedMs;
    },
    [Symbol.dispose]: () => clock.mockRestore(),
  };
}

async function writeAlone(writer: Writer, ...names: number[]): Promise<void> {
  for (const name of names) await writer.write(() => insert(name));
}

test('after a slow commit no reader is kept waiting by a lone write for a while', async () => {
  using slow = await openOn(50);
  slow.writer.noteReader();
  await writeAlone(slow.writer, 3, 4, 5);
  expect(slow.syncedSince()).toBe(3);
});

test('where nobody has read of late a lone write waits for a slow disk in COMMIT', async () => {
  using slow = await openOn(50);
  await writeAlone(slow.writer, 3, 4);
  expect(slow.syncedSince()).toBe(0);
  slow.writer.noteReader();
  await writeAlone(slow.writer, 5);
  expect(slow.syncedSince()).toBe(1);
  slow.pass(10_000);
  await writeAlone(slow.writer, 6);
  expect(slow.syncedSince()).toBe(1);
});

test('nobody is kept waiting where the disk stood still', async () => {
  using stalled = await openOn(150);
  await writeAlone(stalled.writer, 3, 4);
  expect(stalled.syncedSince()).toBe(2);
});

test('nobody is kept waiting by what is large', async () => {
  using quick = await openOn(0);
  await quick.writer.write(() => insert(3), 'large');
  expect(quick.syncedSince()).toBe(1);
});
