import { expect, test } from 'bun:test';
import { limits } from '../../sdk/contract/limits.ts';
import { bodyOf, imported, memory, newKey, newProject, type Project, record } from './fixtures.ts';
import { externalKey, opened, project } from './suite.ts';

/** Tests operations on single memories: save, get, update, delete, and versions. */
export function testMemories(): void {
  test('a list or a search for one user does not see the memories of another', async () => {
    await project.save(memory({ userId: 'ada' }));
    for (const [onlyUserId, seen] of Object.entries({ ada: 1, ben: 0 })) {
      expect(await project.list('ada', { onlyUserId })).toHaveLength(seen);
      const filter = { type: 'memory' } as const;
      expect(await project.list('ada', { onlyUserId, filter })).toHaveLength(seen);
      expect(await project.search('hello', { onlyUserId, userId: 'ada' })).toHaveLength(seen);
    }
  });

  test('updatedAt never decreases, even if the clock is set back', async () => {
    const given = memory({ source: 's', externalId: 'e' });
    await project.save(given, { at: 900 });
    await project.update(given.id, { content: 'x' }, { at: 100 });
    expect(await project.get(given.id)).toMatchObject({ content: 'x', updatedAt: 900 });
    await project.save(memory({ source: 's', externalId: 'e' }), { at: 100 });
    expect(await project.get(given.id)).toMatchObject({ content: 'hello', updatedAt: 900 });
  });

  test('times before 1970 are kept', async () => {
    const given = imported({ createdAt: -9_000, updatedAt: -8_000, occurredAt: -7_000 });
    await project.import([given]);
    expect(await project.get(given.id)).toEqual(given);
    expect(await project.status(given.id)).toMatchObject({ updatedAt: -8_000 });
  });

  test('a failed write is rolled back, and the other writes of the same commit are kept', async () => {
    const same = memory();
    await project.save(same);
    const last = memory();
    const results = await Promise.allSettled([
      project.save(memory()),
      project.remove('mem_none'),
      project.save(same),
      project.accept([record(), record(), same]),
      project.save(last),
    ]);
    const outcomes = results.map(({ status }) => (status === 'fulfilled' ? 'ok' : 'failed'));
    expect(outcomes).toEqual(['ok', 'failed', 'failed', 'failed', 'ok']);
    expect(results[1]).toMatchObject({ reason: { code: 'not_found' } });
    expect(results[4]).toMatchObject({ value: { response: { memoryId: last.id } } });
    expect(await project.list()).toHaveLength(3);
    expect((await project.users()).items).toMatchObject([{ userId: 'u', memories: 3 }]);
  });

  test('close() commits every pending write', async () => {
    const given = Array.from({ length: 1_000 }, () => memory());
    const saves = Promise.allSettled(given.map((one) => project.save(one)));
    await opened.reopen();
    const lost = (await saves).filter(({ status }) => status === 'rejected');
    expect(lost).toHaveLength(0);
    expect(await project.list()).toHaveLength(1_000);
  });
}

/** Tests that a thing in another system is stored as one memory. */
export function testExternalIds(): void {
  test('tells apart sources and external ids of any length', async () => {
    const long = 'x'.repeat(limits.nameCharacters - 1);
    const pairs = [
      ['s', 'ee'],
      ['se', 'e'],
      [null, 'see'],
      ['1 s', 'ee'],
      ['s', `${long}1`],
      ['s', `${long}2`],
      [`${long}1`, 'e'],
      [`${long}2`, 'e'],
    ] as const;
    for (const status of [201, 200]) {
      for (const [source, externalId] of pairs) {
        const { response } = await project.save(
          memory({ source, externalId, content: `${status}` }),
        );
        expect(response.status).toBe(status);
      }
    }
  });
}

/** Tests API keys. */
export function testKeys(): void {
  test('a key has its permissions, is revoked once, and its last use is recorded', async () => {
    const rights = { userId: 'ada', readOnly: true, metricsOnly: true, expiresAt: 99 };
    const [used, unused] = [newKey({ id: 'used', ...rights }), newKey({ id: 'unused' })];
    for (const key of [used, unused]) await opened.storage.createKey(key);
    await opened.storage.touchKeys([{ id: 'used', at: 8 }]);
    expect(await opened.storage.revokeKey({ id: 'used', at: 9 })).toBe(true);
    expect(await opened.storage.revokeKey({ id: 'used', at: 10 })).toBe(false);
    expect(await opened.storage.revokeKey({ id: 'none', at: 10 })).toBe(false);
    const states = [
      { ...used, lastUsedAt: 8, revokedAt: 9 },
      { ...unused, lastUsedAt: null, revokedAt: null },
    ];
    for (const { hash, ...stored } of states) {
      expect(await opened.storage.findKey(hash)).toMatchObject(stored);
    }
  });
}

/** Tests that a write affects no other project, user or write. */
export function testIsolation(): void {
  const changed = { ...externalKey, content: 'changed' };
  const same = { id: 'mem_same', ...changed, version: 2 };
  test.each<[write: string, run: (own: Project) => Promise<unknown>, result: object]>([
    ['a save', async (own) => bodyOf(await own.save(memory(changed))), same],
    ['an update', async (own) => bodyOf(await own.update(same.id, { content: 'changed' })), same],
    ['an ingest', (own) => own.accept([record(changed)]), [same.id]],
    ['a deletion', (own) => own.remove(same.id), { response: { status: 204 } }],
    ['an erasure', async (own) => bodyOf(await own.erase()), { deleted: 1 }],
    ['an import', (own) => own.import([imported({ id: 'mem_theirs' })]), { imported: 1 }],
  ])('%s affects no memory of the same id in other projects', async (_, run, result) => {
    const [first, own, last] = [project, await newProject(opened), await newProject(opened)];
    for (const one of [first, own, last]) {
      await one.accept([record({ ...externalKey, id: same.id })]);
    }
    const others = [first, last];
    for (const one of others) await one.save(memory({ id: 'mem_theirs' }));
    const state = () => Promise.all(others.flatMap((one) => [one.list(), one.users()]));
    const before = await state();
    expect(await run(own)).toMatchObject(result);
    expect(await state()).toEqual(before);
  });
}
