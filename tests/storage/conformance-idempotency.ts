import { describe, expect, test } from 'bun:test';
import { limits } from '../../sdk/contract/limits.ts';
import type { WriteResult } from '../../server/storage/types.ts';
import { rejectionOf } from '../support/thrown.ts';
import {
  bodyOf,
  deletedBody,
  imported,
  keyed,
  memory,
  newProject,
  type Opened,
  type OpenStorage,
  type Project,
  record,
  type WriteFields,
} from './fixtures.ts';
import { withStorage } from './suite.ts';

const idempotency = keyed('k');
const day = 24 * 60 * 60 * 1_000;
const kept = limits.idempotencyKeptMs;

type KeyedWrite = (project: Project, write: WriteFields) => Promise<WriteResult | object>;

/** All write operations, to be run in a project that contains `mem_known`. */
const writes: [name: string, write: KeyedWrite][] = [
  ['saveMemory', (project, write) => project.save(memory(), write)],
  ['updateMemory', (project, write) => project.update('mem_known', { content: 'x' }, write)],
  ['deleteMemory', (project, write) => project.remove('mem_known', write)],
  ['eraseUser', (project, write) => project.erase('u', write)],
  ['acceptRecords', (project, write) => project.accept([record(), record()], write)],
  ['importMemories', (project, write) => project.import([imported(), imported()], write)],
];

/** Tests that each idempotency key has one effect and one response. */
export function testIdempotency(name: string, open: OpenStorage): void {
  describe(`${name}: idempotency`, () => {
    let opened: Opened;
    let project: Project;
    withStorage(open, (...given) => {
      [opened, project] = given;
    });

    /** Saves under the key and returns whether the response was a replay. */
    async function isReplayed(at: number, key = 'k'): Promise<boolean> {
      return (await project.save(memory(), { at, idempotency: keyed(key) })).replayed;
    }

    const stateOf = async (own: Project) => [await own.list(), (await own.users()).items];
    const state = () => stateOf(project);

    for (const [operation, write] of writes) {
      test(`${operation} has one effect under one key`, async () => {
        await project.save(memory({ id: 'mem_known' }));
        const first = await write(project, { idempotency });
        const after = await state();
        expect(await write(project, { idempotency, at: 2_000 })).toEqual(
          'replayed' in first ? { response: first.response, replayed: true } : first,
        );
        expect(await state()).toEqual(after);
      });

      test(`${operation} rejects a key used by another request and changes nothing`, async () => {
        await project.save(memory({ id: 'mem_known' }), { idempotency });
        const before = await state();
        const other = write(project, { idempotency: keyed('k', { fingerprint: 'g' }) });
        expect(await rejectionOf(other)).toMatchObject({ code: 'idempotency_key_reused' });
        expect(await state()).toEqual(before);
      });
    }

    test('no write takes effect twice under one key after reopening', async () => {
      const written = new Map<string, { write: KeyedWrite; own: Project; state: unknown[] }>();
      for (const [operation, write] of writes) {
        const own = await newProject(opened);
        await own.save(memory({ id: 'mem_known' }));
        await write(own, { idempotency });
        written.set(operation, { write, own, state: await stateOf(own) });
      }
      await opened.reopen();
      for (const [operation, { write, own, state }] of written) {
        await write(own, { idempotency, at: 3_000 });
        expect<unknown[]>([operation, ...(await stateOf(own))]).toEqual([operation, ...state]);
      }
    });

    test('fifty concurrent requests under one key have one effect and one response', async () => {
      const saves = Array.from({ length: 50 }, () => project.save(memory(), { idempotency }));
      const results = await Promise.all(saves);
      expect(new Set(results.map(({ response }) => response.body)).size).toBe(1);
      expect(results.filter(({ replayed }) => !replayed)).toHaveLength(1);
      expect(await project.list()).toHaveLength(1);
    });

    test('the same key can be used in another project and in another scope', async () => {
      await project.save(memory(), { idempotency });
      const other = { fingerprint: 'g' };
      const theirs = await newProject(opened);
      const inProject = await theirs.save(memory(), { idempotency: keyed('k', other) });
      const scoped = keyed('k', { ...other, scope: 'ada' });
      const inScope = await project.save(memory(), { idempotency: scoped });
      const again = await project.save(memory(), { idempotency: scoped });
      expect([inProject, inScope, again].map(({ replayed }) => replayed)).toEqual([
        false,
        false,
        true,
      ]);
      expect(again.response).toEqual(inScope.response);
    });

    test('a write that fails does not use up its key', async () => {
      const failed = project.update('mem_none', { content: 'x' }, { idempotency });
      expect(await rejectionOf(failed)).toMatchObject({ code: 'not_found' });
      const stale = memory({ id: 'mem_stale' });
      await project.save(stale);
      const precondition = { idempotency, expectedVersion: 7 };
      expect(await rejectionOf(project.remove(stale.id, precondition))).toMatchObject({
        code: 'precondition_failed',
      });
      expect(await isReplayed(1_000)).toBe(false);
    });

    test('deleting a memory removes its text from the stored responses', async () => {
      const [gone, left] = [memory({ content: 'secret' }), memory()];
      const save = { idempotency: keyed('save') };
      const update = { idempotency: keyed('update', { scope: 'ada' }) };
      await project.save(gone, save);
      const { response } = await project.save(left, { idempotency });
      await project.update(gone.id, { content: 'secret 2' }, update);
      await project.remove(gone.id);
      const cut = { body: deletedBody(gone.id), memoryId: gone.id, version: null };
      const saved = await project.save(gone, save);
      expect(saved).toEqual({ response: { ...cut, status: 201 }, replayed: true });
      const updated = await project.update(gone.id, { content: 'secret 2' }, update);
      expect(updated).toEqual({ response: { ...cut, status: 200 }, replayed: true });
      expect((await project.save(left, { idempotency })).response).toEqual(response);
    });

    test('a memory that is deleted, erased or expires leaves only its id in the response to its ingest', async () => {
      const ways: [name: string, remove: (id: string) => Promise<unknown>][] = [
        ['deleted', (id) => project.remove(id)],
        ['erased', () => project.erase('erased')],
        ['expired', async () => {}],
      ];
      const later = { at: 9_000 };
      for (const externalId of [null, 'canary']) {
        for (const [userId, remove] of ways) {
          const expiresAt = userId === 'expired' ? 9_000 : null;
          const given = record({ userId, source: 'canary', externalId, expiresAt });
          const write = { idempotency: keyed(`${userId} ${externalId}`) };
          const first = await project.ingest(given, write);
          const { memoryId: id } = bodyOf(first);
          expect(await project.ingest(given, write)).toEqual({ ...first, replayed: true });
          await remove(id);
          const cut = { status: 202, body: deletedBody(id), memoryId: id, version: null };
          const expected = { response: cut, replayed: true };
          expect(await project.ingest(given, { ...write, ...later })).toEqual(expected);
          await opened.storage.maintain({ now: 9_000, elapsedMs: 0 });
          expect(await project.ingest(given, write)).toEqual(expected);
        }
      }
    });

    test('the response to a batch contains no text, source or external id', async () => {
      const canary = { content: 'canary', metadata: '{"canary":1}', source: 'canary' };
      const records = ['canary', null].map((externalId) => record({ ...canary, externalId }));
      const { response } = await project.acceptBatch(records, { idempotency });
      expect(response).toMatchObject({ memoryId: null, version: null });
      expect(response.body).not.toContain('canary');
    });

    test('a key is kept for the retention time and then deleted', async () => {
      expect(await isReplayed(1_000)).toBe(false);
      await opened.storage.maintain({ now: 1_000 + kept, elapsedMs: kept });
      expect(await isReplayed(1_000 + kept)).toBe(true);
      const late = { now: 1_001 + kept, elapsedMs: 1 };
      expect(await opened.storage.maintain(late)).toMatchObject({ more: true });
      expect(await isReplayed(1_001 + kept)).toBe(false);
    });

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

    test('elapsed time on the monotonic clock alone deletes no key', async () => {
      const now = 60 * day;
      await isReplayed(now);
      await opened.storage.maintain({ now: now + day, elapsedMs: 4 * day });
      expect(await isReplayed(now + day)).toBe(true);
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
      const keys = Array.from({ length: 1_500 }, (_, n) => isReplayed(now, `${n}`));
      await Promise.all(keys);
      const runs: number[] = [];
      let elapsedMs = kept + 1;
      for (let more = true; more; elapsedMs = 0) {
        const report = await opened.storage.maintain({ now: now + kept + 1, elapsedMs });
        runs.push(report.expiredKeys);
        more = report.more;
      }
      expect(Math.max(...runs)).toBeLessThan(1_500);
      expect(runs.reduce((sum, one) => sum + one, 0)).toBeGreaterThanOrEqual(1_500);
    });

    test('a key is kept for the retention time, however long the service has run', async () => {
      const now = 140 * day;
      await isReplayed(now);
      await opened.storage.maintain({ now: now + kept, elapsedMs: 2 * kept });
      expect(await isReplayed(now + kept)).toBe(true);
      await opened.storage.maintain({ now: now + kept + 1, elapsedMs: 0 });
      expect(await isReplayed(now + kept + 1)).toBe(false);
    });
  });
}
