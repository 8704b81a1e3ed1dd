import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { existsSync, mkdirSync, statSync, truncateSync } from 'node:fs';
import type { LogEntry } from '../../server/log.ts';
import { createThreads } from '../../server/threads/start.ts';
import { temporaryFolder } from '../support/folder.ts';
import { createRandom } from '../support/random.ts';
import { until } from '../support/until.ts';
import { advancesClock } from './advancing-clock.ts';
import { claim, complete, imported, keyed, memory, newProject, record } from './fixtures.ts';
import { advancingClock, beginRead, isScrubPending, open, scrubbed, unusedPages } from './scrub.ts';
import { diagnoseFile, openFile } from './sqlite.ts';

/*
 * Erasure must remove text from the disk, not only from the API. After the scrub, neither the
 * database file nor its write-ahead log contains the text.
 */

const canary = 'canary|c4n4ry';
/** The user id contains the canary, because erasure must also remove the user id. */
const erased = 'c4n4ry@example.org';

/**
 * Counts canaries in the files. Reads the files in another process, because closing a file in this
 * process would release SQLite's locks on that file.
 */
function hits({ path }: { path: string }): number {
  const files = [path, `${path}-wal`].filter((file) => existsSync(file));
  const grep = Bun.spawnSync(['grep', '-aoiE', canary, ...files], {
    env: { ...process.env, LC_ALL: 'C' },
  });
  expect(grep.exitCode).toBeLessThan(2);
  return grep.stdout.toString().trim().split('\n').filter(Boolean).length;
}

/** Returns the level at which the doctor reports that text may remain in the file. */
async function reportedLevel({ path }: { path: string }): Promise<string | undefined> {
  const findings = await diagnoseFile(path);
  return findings.find(({ name }) => name === 'erasure')?.level;
}

type OpenedProject = Awaited<ReturnType<typeof open>>;

function text(userId: string, length: number): string {
  return `${userId === erased ? 'Canary' : 'Other'} ${'word '.repeat(length)}`;
}

test.concurrent('after the scrub, the files contain no text of an erased user, nor copies of moved rows', async () => {
  await using project = await open();
  const random = createRandom(7);
  const users = [erased, 'a', 'b', 'c', 'zz'];
  const saved: { id: string; userId: string }[] = [];
  function saveAndUpdate(n: number): Promise<unknown>[] {
    const userId = random.pick(users);
    const metadata = JSON.stringify({ tag: userId === erased ? 'c4n4ry' : 'x' });
    const content = text(userId, random.between(0, 200));
    saved.push({ id: `mem_${n}`, userId });
    const given = memory({ id: `mem_${n}`, userId, content, metadata });
    const saving = project.save(given, { idempotency: keyed(`k${n}`) });
    const other = random.pick(saved);
    const longer = text(other.userId, random.between(0, 300));
    return random.chance(0.3) ? [saving, project.update(other.id, { content: longer })] : [saving];
  }
  // The writes are queued together and run in this order, so the same rows move in every run.
  // With this seed, copies of moved rows remain if the file is not rebuilt.
  for (let n = 0; n < 1_600; n += 20) {
    await Promise.all(Array.from({ length: 20 }, (_, one) => saveAndUpdate(n + one)).flat());
  }
  await project.accept([record({ userId: erased, content: text(erased, 5_000) })]);
  const { storage } = project.opened;
  for (const task of await claim(storage)) await complete(storage, task);
  const removed = saved.slice(0, 30).filter(({ userId }) => userId === erased);
  for (const { id } of removed) await project.remove(id);
  expect(hits(project)).toBeGreaterThan(50);
  await project.erase(erased);
  await scrubbed(project);
  expect(hits(project)).toBe(0);
  const left = saved.filter(({ userId }) => userId !== erased);
  expect((await project.exportPage()).items).toHaveLength(left.length);
});

test.concurrent('each erasure is followed by a rewrite of the file', async () => {
  await using project = await open();
  for (let n = 0; n < 2; n += 1) {
    await project.save(memory({ userId: erased, content: text(erased, 4_000) }));
    await project.erase(erased);
    await scrubbed(project);
    expect(unusedPages(project)).toBe(0);
  }
});

test.concurrent.each<
  [how: string, remove: (project: OpenedProject, id: string) => Promise<unknown>]
>([
  ['were deleted one by one', ({ remove }, id) => remove(id)],
  ['have expired', ({ opened }) => opened.storage.maintain({ now: 5_000, elapsedMs: 0 })],
])('memories that %s leave no text after the erasure of their user', async (_, remove) => {
  await using project = await open();
  const given = Array.from({ length: 40 }, (_, n) =>
    memory({ userId: erased, content: text(erased, n), expiresAt: 5_000 }),
  );
  for (const one of given) await project.save(one, { idempotency: keyed(one.id) });
  expect(hits(project)).toBeGreaterThan(0);
  for (const { id } of given) await remove(project, id);
  expect((await project.users()).items).toEqual([]);
  await project.erase(erased);
  await scrubbed(project);
  expect(hits(project)).toBe(0);
});

test.concurrent("no source or external id of an erased user's record is left in the files", async () => {
  await using project = await open();
  const fields = { userId: erased, source: 'Canary', metadata: '{"c4n4ry":1}' };
  const given = () =>
    ['Canary 1', 'Canary 2', null].map((externalId) => record({ ...fields, externalId }));
  for (const [n, one] of [...given(), ...given()].entries()) {
    await project.ingest(one, { idempotency: keyed(`k${n}`) });
  }
  await project.acceptBatch(given(), { idempotency: keyed('batch') });
  expect(hits(project)).toBeGreaterThan(10);
  await project.erase(erased);
  await scrubbed(project);
  expect(hits(project)).toBe(0);
});

test.concurrent('a scrub completes during continuous saves', async () => {
  await using project = await open(advancingClock);
  await project.save(memory({ userId: erased, content: text(erased, 10) }));
  await project.erase(erased);
  let isSaving = true;
  async function keepSaving(): Promise<void> {
    while (isSaving) await project.save(memory({ userId: 'a', content: text('a', 2_000) }));
  }
  const savers = Array.from({ length: 8 }, keepSaving);
  await project.save(memory({ userId: advancesClock }));
  await scrubbed(project);
  isSaving = false;
  await Promise.all(savers);
});

test.concurrent('a scrub that a shutdown prevents is reported, and runs after a restart', async () => {
  await using project = await open();
  await project.save(memory({ userId: erased, content: text(erased, 10) }));
  await project.erase(erased);
  await project.opened.storage.close();
  expect(await reportedLevel(project)).toBe('warning');
  project.opened.storage = await openFile(project.path);
  await scrubbed(project);
  expect(hits(project)).toBe(0);
  expect(await reportedLevel(project)).toBeUndefined();
});

test.concurrent('a scrub blocked by a read delays no save, and runs after a restart', async () => {
  await using project = await open(advancingClock);
  await project.save(memory({ userId: erased, content: text(erased, 10) }));
  const endRead = beginRead(project);
  await project.erase(erased);
  await project.save(memory({ userId: advancesClock }));
  let slowestMs = 0;
  for (const end = performance.now() + 2_500; performance.now() < end; await Bun.sleep(10)) {
    const begun = performance.now();
    await project.save(memory({ userId: 'a', content: 'meanwhile' }));
    slowestMs = Math.max(slowestMs, performance.now() - begun);
  }
  expect(isScrubPending(project)).toBe(true);
  expect(slowestMs).toBeLessThan(3_000);
  endRead();
  await project.opened.reopen();
  await scrubbed(project);
  expect(hits(project)).toBe(0);
});

test.concurrent('neither an erasure nor its retry deletes a memory that is saved after it began', async () => {
  await using project = await open();
  // In the order of an erasure, the later memory comes last.
  await project.import(Array.from({ length: 1_000 }, (_, n) => imported({ createdAt: n })));
  const erase = () => project.erase('u', { idempotency: keyed('k') });
  const later = memory();
  const outcomes = [erase(), project.save(later, { at: 2_000 }), erase()];
  const [first, , second] = await Promise.all(outcomes);
  expect(JSON.parse(first?.response.body ?? '')).toEqual({ deleted: 1_000 });
  expect(second?.response.body).toBe(first?.response.body ?? '');
  expect(await project.list()).toMatchObject([{ id: later.id }]);
});

test.concurrent('the text of a deleted memory is overwritten without an erasure of its user', async () => {
  await using project = await open();
  const given = memory({ userId: 'a', content: 'canary '.repeat(3_000) });
  await project.save(given);
  expect(hits(project)).toBeGreaterThan(0);
  await project.remove(given.id);
  // Closing copies the log to the file and deletes the log.
  await project.opened.storage.close();
  expect(hits(project)).toBe(0);
  project.opened.storage = await openFile(project.path);
});

test.concurrent('the doctor advises a rebuild by hand only for a large file', async () => {
  await using project = await open();
  await project.opened.storage.close();
  // Inserted directly, because a busy machine may scrub an erasure before the storage closes.
  const db = new Database(project.path);
  db.run(`INSERT INTO maintenance (name, value) VALUES ('scrub', 1)`);
  db.close(true);
  const advice = async () =>
    (await diagnoseFile(project.path)).find(({ name }) => name === 'erasure')?.advice;
  expect(await advice()).toContain('a running server removes the text within ten minutes');
  const { size } = statSync(project.path);
  // A sparse file. SQLite ignores the part beyond the last page.
  truncateSync(project.path, 2 ** 30 + 4_096);
  expect(await advice()).toMatch(/^stop the server, then run: .*VACUUM/);
  truncateSync(project.path, size);
  project.opened.storage = await openFile(project.path);
});

test.concurrent('a file in a folder with a quote in its name is scrubbed', async () => {
  using folder = temporaryFolder();
  mkdirSync(folder.file("ada's"));
  const path = folder.file("ada's/memory.db");
  const warnings: string[] = [];
  const write = ({ message }: LogEntry) => warnings.push(message);
  const threads = createThreads({ logLevel: 'warn', write });
  const storage = await openFile(path, { threads });
  try {
    const project = await newProject({ storage });
    await project.save(memory());
    await project.erase();
    const isDone = () => !isScrubPending({ path }) || warnings.length > 0;
    await until(isDone, { what: 'the scrub' });
    expect(warnings).toEqual([]);
  } finally {
    await storage.close();
  }
});
