import { expect, test } from 'bun:test';
import { limits } from '../../sdk/contract/limits.ts';
import { keyed, memory, newProject } from './fixtures.ts';
import { opened, project } from './suite.ts';

const day = 24 * 60 * 60 * 1_000;
const kept = limits.idempotencyKeptMs;

/** Tests that a key has one effect, what a deletion leaves of it, and how long it is kept. */
export function testIdempotency(): void {
  /** Saves under the key and returns whether the response was a replay. */
  async function isReplayed(at: number, key = 'k'): Promise<boolean> {
    return (await project.save(memory(), { at, idempotency: keyed(key) })).replayed;
  }

  test('after its key is deleted, the same erasure also deletes newer memories', async () => {
    const project = await newProject(opened);
    const erase = (at: number) => project.erase('u', { at, idempotency: keyed('erase') });
    const begun = 20 * day;
    await project.save(memory());
    expect((await erase(begun)).response.body).toBe('{"deleted":1}');
    for (let n = 0; n < 2; n += 1) await project.save(memory());
    const now = begun + kept + 1;
    await opened.storage.maintain({ now, elapsedMs: kept });
    await opened.storage.maintain({ now, elapsedMs: 1 });
    expect((await erase(now)).response.body).toBe('{"deleted":2}');
  });

  test('a wall clock that jumps four days ahead and back deletes no key', async () => {
    const now = 40 * day;
    await isReplayed(now);
    await opened.storage.maintain({ now: now + 4 * day, elapsedMs: 30_000 });
    await isReplayed(now + 4 * day, 'while ahead');
    await opened.storage.maintain({ now: now + 60_000, elapsedMs: 30_000 });
    expect(await isReplayed(now + 60_000)).toBe(true);
    expect(await isReplayed(now + 60_000, 'while ahead')).toBe(true);
  });

  test('keys with a time in the future do not prevent the deletion of other keys', async () => {
    const now = 80 * day;
    for (let n = 0; n < 1_100; n += 100) {
      const ahead = Array.from({ length: 100 }, (_, one) => isReplayed(now + day, `${n + one}`));
      await Promise.all(ahead);
    }
    await isReplayed(now - kept - 1_000, 'old');
    await opened.storage.maintain({ now, elapsedMs: 2 * kept });
    expect(await isReplayed(now, 'old')).toBe(false);
  });

  test('elapsed time adds up across a reopening of the storage', async () => {
    const now = 100 * day;
    await isReplayed(now);
    await opened.storage.maintain({ now, elapsedMs: kept });
    await opened.reopen();
    await opened.storage.maintain({ now: now + kept + 1, elapsedMs: 1 });
    expect(await isReplayed(now + kept + 1)).toBe(false);
  });

  test('maintenance deletes keys in bounded batches, until none is left', async () => {
    const now = 120 * day;
    const keys = Array.from({ length: 1_100 }, (_, n) => isReplayed(now, `${n}`));
    await Promise.all(keys);
    const runs: number[] = [];
    let elapsedMs = kept + 1;
    for (let more = true; more; elapsedMs = 0) {
      const report = await opened.storage.maintain({ now: now + kept + 1, elapsedMs });
      runs.push(report.expiredKeys);
      more = report.more;
    }
    expect(Math.max(...runs)).toBeLessThan(1_100);
    expect(runs.reduce((sum, one) => sum + one, 0)).toBeGreaterThanOrEqual(1_100);
  });

  test('a key is kept for the retention time, however long the service has run', async () => {
    const now = 140 * day;
    await isReplayed(now);
    await opened.storage.maintain({ now: now + kept, elapsedMs: 2 * kept });
    expect(await isReplayed(now + kept)).toBe(true);
    const late = { now: now + kept + 1, elapsedMs: 0 };
    expect(await opened.storage.maintain(late)).toMatchObject({ more: true });
    expect(await isReplayed(now + kept + 1)).toBe(false);
  });
}
