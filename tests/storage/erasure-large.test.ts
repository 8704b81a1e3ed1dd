import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { renameSync, writeFileSync } from 'node:fs';
import { memoryBytes } from '../support/process.ts';
import { until } from '../support/until.ts';
import { keyed, memory, type Project } from './fixtures.ts';
import { healthy } from './health.ts';
import { open, scrubbed } from './scrub.ts';

/* Erasures in databases with large documents. */

const large = 'x'.repeat(2 * 1024 * 1024);

async function saveLarge({ save }: Pick<Project, 'save'>, count: number, more = {}) {
  for (let n = 0; n < count; n += 1) await save(memory({ content: large, ...more }));
}

test.concurrent('other writes run between the transactions of an erasure of large documents', async () => {
  await using project = await open();
  const orders: string[][] = [];
  // On a busy machine, the save may be sent too late, so a few attempts are made.
  while (orders.length < 5 && orders.at(-1)?.[0] !== 'save') {
    await saveLarge(project, 6);
    const order: string[] = [];
    const erasing = project.erase().then(() => order.push('erasure'));
    const saving = project.save(memory({ userId: 'other' })).then(() => order.push('save'));
    await Promise.all([erasing, saving]);
    orders.push(order);
  }
  expect(orders.at(-1)).toEqual(['save', 'erasure']);
});

test.concurrent('an erasure that fails after its first part can be repeated under its key', async () => {
  await using project = await open();
  using db = new Database(project.path, { readonly: true });
  const left = db.prepare<{ memories: number }, []>('SELECT count(*) AS memories FROM memories');
  let [erasures, failure]: [number, unknown] = [0, null];
  const erase = () => project.erase('u', { idempotency: keyed(`${erasures}`) });
  // On a busy machine, the file may be moved too late, so a few attempts are made.
  while (erasures < 5 && failure === null) {
    erasures += 1;
    await saveLarge(project, 20);
    const failed = erase().then(
      () => null,
      (error) => error,
    );
    await until(() => (left.get()?.memories ?? 0) < 20, { what: 'the first part' });
    renameSync(project.path, `${project.path}.away`);
    failure = await failed;
    renameSync(`${project.path}.away`, project.path);
    await healthy(project.opened.storage);
  }
  const message = 'the database failed and the write is incomplete; retry to complete it';
  expect(failure).toMatchObject({ code: 'unavailable', message });
  await erase();
  expect((await project.users()).items).toEqual([]);
});

test.concurrent('large documents that have expired are deleted in several transactions', async () => {
  await using project = await open();
  await saveLarge(project, 12, { expiresAt: 5_000 });
  const removed: number[] = [];
  for (let isDone = false; !isDone; ) {
    const { expiredMemories, more } = await project.opened.storage.maintain({
      now: 5_000,
      elapsedMs: 0,
    });
    removed.push(expiredMemories);
    isDone = !more;
  }
  expect(removed.length).toBeGreaterThan(2);
  expect(removed.reduce((sum, count) => sum + count, 0)).toBe(12);
});

test.concurrent('documents that each exceed the size of a transaction are erased', async () => {
  await using project = await open();
  const content = 'x'.repeat(9 * 1024 * 1024);
  for (let count = 0; count < 2; count += 1) await project.save(memory({ content }));
  await project.erase();
  expect((await project.users()).items).toEqual([]);
});

test.skipIf(process.platform !== 'linux')(
  'a rebuild does not copy the file into memory',
  async () => {
    await using project = await open();
    await saveLarge(project, 20, { userId: 'kept' });
    await project.save(memory({ userId: 'erased' }));
    await project.erase('erased');
    // Resets VmHWM, the peak of the memory that this process uses.
    writeFileSync('/proc/self/clear_refs', '5');
    const before = memoryBytes(process.pid);
    await scrubbed(project);
    expect(memoryBytes(process.pid, 'VmHWM') - before).toBeLessThan(20 * 1024 * 1024);
  },
  30_000,
);
