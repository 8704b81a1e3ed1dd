import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { statSync, truncateSync } from 'node:fs';
import { until } from '../support/until.ts';
import { advancesClock, stopsClock } from './advancing-clock.ts';
import { memory } from './fixtures.ts';
import {
  advancingClock,
  beginRead,
  isRebuildBegun,
  isScrubPending,
  open,
  scrubbed,
  unusedPages,
} from './scrub.ts';

/* When a scrub runs: delays, pauses, repetitions, and the size of the file. */

/** The documented limit. Imported, it would follow any change. */
const maxRebuiltBytes = 2 ** 30;

test.concurrent('a scrub that a read blocks is repeated after a pause', async () => {
  await using project = await open(advancingClock);
  await project.save(memory());
  const endRead = beginRead(project);
  await project.erase();
  await until(() => isRebuildBegun(project), { what: 'the rebuild' });
  // The writer stores this memory only after the attempt.
  await project.save(memory({ userId: 'v' }));
  endRead();
  await Bun.sleep(1_000);
  expect(isScrubPending(project)).toBe(true);
  await project.save(memory({ userId: advancesClock }));
  await scrubbed(project);
});

test.concurrent('a scrub that fails is logged, and repeated after a pause', async () => {
  const warnings: string[] = [];
  await using project = await open({
    ...advancingClock,
    logLevel: 'warn',
    write: ({ message }) => warnings.push(message),
  });
  const other = new Database(project.path);
  // On a busy machine, the scrub may run before the file is locked. Another erasure then follows.
  const isLockedInTime = async () => {
    if (other.inTransaction) other.run('ROLLBACK');
    // Also ends the pause after a scrub.
    await project.save(memory({ userId: advancesClock }));
    await project.save(memory());
    await project.erase();
    try {
      other.run('BEGIN IMMEDIATE');
    } catch {
      // The scrub is running.
      return false;
    }
    return isScrubPending(project);
  };
  await until(isLockedInTime, { what: 'a lock before the scrub' });
  const isWarned = () => warnings.join().includes('erased text has not been removed');
  await until(isWarned, { what: 'the warning' });
  other.close(true);
  await Bun.sleep(1_000);
  expect(isScrubPending(project)).toBe(true);
  await project.save(memory({ userId: advancesClock }));
  await scrubbed(project);
});

test.concurrent('a file of 1 GiB is rebuilt', async () => {
  await using project = await open();
  await project.save(memory());
  // A sparse file. SQLite ignores the part beyond the last page and later cuts it off.
  truncateSync(project.path, maxRebuiltBytes);
  await project.erase();
  await scrubbed(project);
  expect(statSync(project.path).size).toBeLessThan(maxRebuiltBytes);
});

test.concurrent('a memory deleted while a scrub is blocked requires another scrub', async () => {
  await using project = await open(advancingClock);
  const deleted = memory({ userId: 'v' });
  await project.save(memory());
  await project.save(deleted);
  const endRead = beginRead(project);
  await project.erase();
  await until(() => isRebuildBegun(project), { what: 'the rebuild' });
  await project.remove(deleted.id);
  endRead();
  await project.save(memory({ userId: advancesClock }));
  await scrubbed(project);
  // A read that keeps the next scrub from ending before it is seen.
  using another = new Database(project.path, { readonly: true });
  another.run('BEGIN');
  another.prepare('SELECT count(*) FROM memories').get();
  // The user has no memories left, but the file may still contain the text of the deleted one.
  await project.erase('v');
  expect(isScrubPending(project)).toBe(true);
});

test.concurrent('a file over 1 GiB is not rebuilt, but its log is emptied', async () => {
  await using project = await open();
  await project.save(memory({ content: 'word '.repeat(4_000) }));
  // A sparse file. SQLite ignores the part beyond the last page.
  truncateSync(project.path, maxRebuiltBytes + 4_096);
  await project.erase();
  await until(() => statSync(`${project.path}-wal`).size === 0, { what: 'the empty log' });
  // A rebuild would have removed the pages of the erased text.
  expect(unusedPages(project)).toBeGreaterThan(0);
  expect(isScrubPending(project)).toBe(true);
});

test.concurrent('an erasure after a rebuild by hand is followed by a rebuild', async () => {
  await using project = await open();
  await project.save(memory());
  truncateSync(project.path, maxRebuiltBytes + 4_096);
  await project.erase();
  await until(() => statSync(`${project.path}-wal`).size === 0, { what: 'the empty log' });
  const db = new Database(project.path);
  // The writer may still be emptying the log.
  db.run('PRAGMA busy_timeout = 5000');
  db.run(`VACUUM; DELETE FROM maintenance WHERE name = 'scrub'; PRAGMA wal_checkpoint(TRUNCATE)`);
  db.close(true);
  await project.save(memory({ content: 'word '.repeat(4_000) }));
  await project.erase();
  await scrubbed(project);
  expect(unusedPages(project)).toBe(0);
});

test.concurrent('a rebuild waits for a second without writes, but not longer than the limit', async () => {
  await using project = await open(advancingClock);
  await project.save(memory({ userId: stopsClock }));
  await project.erase(stopsClock);
  const begun = performance.now();
  const isWrittenOften = async () => {
    await project.save(memory());
    return performance.now() - begun > 1_500;
  };
  await until(isWrittenOften, { what: 'the end of the writes' });
  expect(isRebuildBegun(project)).toBe(false);
  await project.save(memory({ userId: advancesClock }));
  // Further erasures do not postpone the limit.
  const isBegun = async () => {
    await project.erase('nobody');
    return isRebuildBegun(project);
  };
  await until(isBegun, { what: 'the rebuild' });
});

test.concurrent('an erasure starts no second scrub if nothing was deleted in between', async () => {
  await using project = await open();
  await project.save(memory());
  await project.erase();
  await until(() => isRebuildBegun(project), { what: 'the rebuild' });
  await scrubbed(project);
  await project.erase();
  expect(isScrubPending(project)).toBe(false);
});
