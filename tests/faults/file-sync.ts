import { readFileSync, statSync } from 'node:fs';
import { until } from '../support/until.ts';
import { listAll, saveOf, send } from './api.ts';
import type { Figures, Violations } from './harness.ts';
import { tampering } from './strace.ts';
import { createTarget, type Target } from './target.ts';

/** The amount of text to write, which is enough to make the WAL longer than `longBytes`. */
const writtenBytes = 60 * 1024 * 1024;
const content = 'a long text '.repeat(5_000);
const writers = 8;
const userId = 'unsynced';
/** At this length, the service checkpoints the whole WAL, so that SQLite restarts the WAL. */
const longBytes = 8_000 * 4_096;
/** The byte range of the salts in the WAL header. SQLite changes them when it restarts the WAL. */
const salts = { from: 16, to: 24 };

/**
 * Makes every sync of the database file fail. After the kernel has reported the error once, it may
 * drop the dirty pages. Then only the WAL contains the writes, so the WAL must not be restarted.
 */
export async function failFileSync(variants: string[], violations: Violations): Promise<Figures> {
  await using target = createTarget({ variants });
  // The database file must exist before the errors begin.
  await target.start();
  await target.stop();
  await target.start(tampering(['fsync', 'fdatasync'], 'error=EIO:when=1+', target.path));
  await save(target, 'the first');
  const begun = saltsOf(target);
  let stored = 1;
  const each = Math.ceil(writtenBytes / content.length / writers);
  async function write(): Promise<void> {
    for (let count = 0; count < each; count += 1) if (await save(target, content)) stored += 1;
  }
  await Promise.all(Array.from({ length: writers }, write));
  if (saltsOf(target) !== begun)
    violations.add('the WAL was restarted although the database file was not synced');
  // The WAL contains all writes, so /health reports a warning instead of a failure. The warning
  // appears at the next checkpoint.
  const reported = () =>
    send(target, { method: 'GET', path: '/health' }).then((health) =>
      health?.text.includes('the database file could not be synced to the disk'),
    );
  await until(reported).catch(() => violations.add('/health does not report the failed sync'));
  const loggedBytes = logBytes(target);
  if (loggedBytes < longBytes)
    violations.add(`the WAL is too short for this test: ${loggedBytes} bytes`);
  // A clean shutdown must not checkpoint and delete the WAL.
  await target.stop();
  if (logBytes(target) < loggedBytes)
    violations.add('the WAL was deleted or truncated during shutdown');
  await target.start();
  const found = (await listAll(target, userId)).length;
  if (found !== stored)
    violations.add(`after the restart, ${found} of ${stored} memories are stored`);
  return { storedDuringSyncErrors: stored };
}

function logBytes({ path }: Target): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

function saltsOf({ path }: Target): string {
  return readFileSync(`${path}-wal`).subarray(salts.from, salts.to).toString('hex');
}

async function save(target: Target, content: string): Promise<boolean> {
  return (await send(target, saveOf(userId, content)))?.status === 201;
}
