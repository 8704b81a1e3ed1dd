import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { until } from '../support/until.ts';
import { delaysRows, slowsRows } from './faulty-threads.ts';
import { memory, newProject } from './fixtures.ts';
import { openInFolder } from './sqlite.ts';

/* A long write-ahead log is restarted although reads never pause, and reads hardly wait for it. */

/** At this length, new reads wait until the running ones have ended and the log is restarted. */
const longBytes = 8_000 * 4_096;
/** A checkpoint is made whenever the log has grown by this number of pages. */
const minPages = 4_000;
const content = 'a long text '.repeat(80_000);

async function open(...preload: string[]) {
  const opened = await openInFolder({ preload });
  const project = await newProject(opened);
  const log = new Database(opened.path, { readonly: true });
  const query = log.prepare<{ log: number }, []>('PRAGMA wal_checkpoint(NOOP)');
  return {
    opened,
    project,
    save: () => project.save(memory({ content })),
    logBytes: () => statSync(`${opened.path}-wal`).size,
    logPages: () => query.get()?.log ?? 0,
    async [Symbol.asyncDispose]() {
      log.close(true);
      await opened.dispose();
    },
  };
}

test.concurrent('the log is restarted again and again, without being truncated, while reads overlap', async () => {
  await using all = await open('faulty-threads.ts');
  const { opened, project, save, logPages, logBytes } = all;
  const ids = Array.from({ length: 8 }, (_, n) => `${delaysRows} ${n}`);
  let restarts = 0;
  let reads = 0;
  let pages = 0;
  let bytes = 0;
  async function readOften(reader: typeof project): Promise<void> {
    for (; restarts < 2; reads += 1) await reader.statuses(ids);
  }
  // A project may not use the last thread of the pool, so a second project reads as well.
  const readers = [project, project, project, await newProject(opened)];
  const reading = readers.map(readOften);
  let saved = 0;
  const isRestarted = async () => {
    saved += (await Promise.all([save(), save(), save(), save()])).length;
    if (logPages() < pages && logBytes() >= bytes) restarts += 1;
    pages = logPages();
    bytes = logBytes();
    return restarts === 2;
  };
  try {
    await until(isRestarted, { what: 'two restarts of the log' });
  } finally {
    restarts = 2;
    await Promise.all(reading);
  }
  expect(reads).toBeGreaterThan(readers.length);
  expect((await project.users()).items).toMatchObject([{ memories: saved }]);
});

test.concurrent('a search does not wait for a long read, even if the log is long', async () => {
  await using all = await open('faulty-threads.ts');
  const { project, save, logBytes } = all;
  await project.save(memory({ userId: 'v', content: 'lantern' }));
  let isReading = true;
  // Long enough for a slow machine; the storage is closed before it ends.
  const ids = Array.from({ length: 400 }, (_, n) => `${slowsRows} ${n}`);
  const ends = () => {
    isReading = false;
  };
  project.statuses(ids).then(ends, ends);
  while (logBytes() < 1.5 * longBytes) await Promise.all([save(), save()]);
  for (let n = 0; n < 3; n += 1) {
    expect(await project.search('lantern', { userId: 'v' })).toHaveLength(1);
    await save();
  }
  expect(isReading).toBe(true);
});

test.concurrent('during a long read, the log is checkpointed only as often as it grows', async () => {
  await using all = await open('logged-checkpoints.ts');
  const { opened, save, logPages } = all;
  using beside = new Database(opened.path);
  beside.run('BEGIN');
  beside.prepare('SELECT count(*) FROM memories').get();
  while (logPages() < 4 * minPages) await save();
  beside.run('END');
  const checkpoints = readFileSync(`${opened.path}.checkpoints`, 'utf8').length;
  expect(checkpoints).toBeGreaterThan(1);
  expect(checkpoints).toBeLessThanOrEqual(logPages() / minPages);
});

test.concurrent('a search does not wait until the disk has stored the rest of a long log', async () => {
  await using all = await open('slow-finish.ts');
  const { opened, project, save } = all;
  await project.save(memory({ userId: 'v', content: 'lantern' }));
  const finishing = `${opened.path}.finishing`;
  let isSaving = true;
  const saving = (async () => {
    while (isSaving) await save();
  })();
  await until(() => existsSync(finishing), { what: 'the end of a checkpoint' });
  isSaving = false;
  expect(await project.search('lantern', { userId: 'v' })).toHaveLength(1);
  rmSync(finishing);
  await saving;
});
