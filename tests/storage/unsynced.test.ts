import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { existsSync, statSync } from 'node:fs';
import { storeBackupTime } from '../../server/admin.ts';
import { until } from '../support/until.ts';
import { imported, memory, newProject } from './fixtures.ts';
import { countIn, openFile, openInFolder, openKeys } from './sqlite.ts';

/* Checkpoints that fail or block. The write-ahead log keeps data that the file may lack. */

/** A log of this length is restarted, unless the database file may be incomplete. */
const longPages = 8_000;
const longBytes = longPages * 4_096;
const content = 'a long text '.repeat(80_000);

async function open(preload: string[] = [], hungAfterMs?: number) {
  const ends: string[] = [];
  const opened = await openInFolder({
    preload,
    onFatal: (reason) => ends.push(reason),
    ...(hungAfterMs !== undefined && { hungAfterMs }),
  });
  const project = await newProject(opened);
  return {
    opened,
    project,
    ends,
    save: () => project.save(memory({ content })),
    warning: async () => (await opened.storage.health()).warning,
    logBytes: () => statSync(`${opened.path}-wal`, { throwIfNoEntry: false })?.size ?? 0,
    [Symbol.asyncDispose]: () => opened.dispose(),
  };
}

test.concurrent.each([
  ['in a checkpoint of the thread', 'failing-sync-in-thread.ts'],
  ['of the file by the thread', 'failing-sync-of-file.ts'],
  ['in a checkpoint of the writer', 'failing-sync-in-writer.ts'],
])(
  'after a failed sync %s, the log is kept, and the next start checkpoints it again',
  async (_, preload) => {
    await using all = await open([preload]);
    const { opened, project, save, warning, logBytes } = all;
    let saved = 0;
    const grow = async () => {
      saved += (await Promise.all([save(), save()])).length;
    };
    while ((await warning()) === null) await grow();
    expect(await warning()).toContain('could not be synced to the disk');
    while (logBytes() < 1.5 * longBytes) await grow();
    const beside = new Database(opened.path, { readonly: true });
    const log = beside.prepare('PRAGMA wal_checkpoint(NOOP)').get();
    beside.close(true);
    await opened.storage.close();
    expect(log).not.toMatchObject({ checkpointed: (log as { log: number }).log });
    expect(logBytes()).toBeGreaterThan(longBytes);
    opened.storage = await openFile(opened.path);
    expect((await project.users()).items).toMatchObject([{ memories: saved }]);
  },
);

test.concurrent('after a failed sync, commands beside the server make no checkpoint', async () => {
  await using all = await open(['failing-sync-of-file.ts']);
  const { opened, save, warning } = all;
  while ((await warning()) === null) await save();
  using log = watchLog(opened.path);
  const before = log.checkpointed();
  // By default, SQLite makes a checkpoint if the log has 1,000 pages.
  while (log.pages() < before + 1_000) await save();
  await storeBackupTime(opened.url);
  expect(log.checkpointed()).toBe(before);
  const keys = await openKeys(opened.path, { create: false });
  await keys.createKey({ name: 'beside', project: 'default' });
  await keys.close();
  expect(log.checkpointed()).toBe(before);
});

test.concurrent('a checkpoint that waits for the disk is not mistaken for a hanging thread', async () => {
  await using all = await open(['blocked-checkpoint.ts'], 4_000);
  const { opened, project, save, ends, logBytes } = all;
  const isSynced = async () => {
    // A save may be refused while the disk is slow.
    await (logBytes() < longBytes ? save() : project.save(memory())).catch(() => {});
    return existsSync(`${opened.path}.synced`) || ends.length > 0;
  };
  await until(isSynced, { what: 'the end of the sync or of the service' });
  expect(ends).toEqual([]);
});

test.concurrent('a checkpoint thread that exits ends the service', async () => {
  await using all = await open(['ending-checkpoint.ts']);
  const { project, save, logBytes, ends } = all;
  // Without checkpoints, large saves would fill the disk.
  while (ends.length === 0) await (logBytes() < 10 * longBytes ? save() : project.save(memory()));
  expect(ends).toEqual(['the checkpoint thread exited']);
});

test.concurrent('after a checkpoint fails with a write error, a later one succeeds', async () => {
  await using all = await open(['failing-write-in-thread.ts']);
  const { opened, project, save, warning, logBytes } = all;
  using log = watchLog(opened.path);
  const isCheckpointed = async () => {
    await (logBytes() < 10 * longBytes ? save() : project.save(memory()));
    return log.checkpointed() > 0;
  };
  await until(isCheckpointed, { what: 'a checkpoint' });
  expect(await warning()).toBeNull();
});

/** Reads how many pages the write-ahead log has, and how many were copied to the file. */
function watchLog(path: string) {
  const db = new Database(path, { readonly: true });
  const query = db.prepare<{ log: number; checkpointed: number }, []>(
    'PRAGMA wal_checkpoint(NOOP)',
  );
  return {
    pages: () => query.get()?.log ?? 0,
    checkpointed: () => query.get()?.checkpointed ?? 0,
    [Symbol.dispose]: () => db.close(true),
  };
}

test.concurrent('after a failed sync, neither a long log nor an erasure makes the writer checkpoint', async () => {
  await using all = await open(['failing-sync-in-thread.ts']);
  const { opened, project, warning, logBytes } = all;
  {
    using log = watchLog(opened.path);
    // A single commit that exceeds the length at which the writer checkpoints the rest of the log.
    const count = Math.ceil((1.2 * longBytes) / content.length);
    await project.import(Array.from({ length: count }, () => imported({ content })));
    while ((await warning()) === null) await project.save(memory());
    // The writer handles this save after the report of the failed sync.
    await project.save(memory());
    expect(log.checkpointed()).toBe(0);
    // After a complete checkpoint, the save would have restarted the log.
    expect(log.pages()).toBeGreaterThan(longPages);
  }
  await project.erase('u');
  // An erasure is followed by a rebuild after one second.
  await Bun.sleep(2_000);
  expect(logBytes()).toBeGreaterThan(longBytes);
  await opened.storage.close();
  expect(logBytes()).toBeGreaterThan(longBytes);
});

test.concurrent('after a sync fails while the log is emptied, close() keeps the log', async () => {
  await using all = await open(['failing-sync-in-scrub.ts']);
  const { opened, project, save, warning, logBytes } = all;
  await save();
  await project.erase('u');
  await until(warning, { what: 'the warning', timeoutMs: 20_000 });
  expect(await warning()).toContain('could not be synced to the disk');
  await opened.storage.close();
  expect(logBytes()).toBeGreaterThan(0);
});

test.concurrent('after close(), no log is left, even if the checkpoint thread was running', async () => {
  await using all = await open();
  const { opened, save } = all;
  let saved = 0;
  {
    using log = watchLog(opened.path);
    const isCheckpointed = async () => {
      await save();
      saved += 1;
      return log.checkpointed() > 0;
    };
    await until(isCheckpointed, { what: 'a checkpoint' });
  }
  await opened.storage.close();
  for (const part of ['-wal', '-shm']) expect(existsSync(opened.path + part)).toBe(false);
  expect(countIn(opened.path)).toBe(saved);
});
