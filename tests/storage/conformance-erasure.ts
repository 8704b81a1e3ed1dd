import { expect, test } from 'bun:test';
import type { Deleted } from '../../sdk/contract/transfer.ts';
import { bodyOf, imported, keyed, memory, newProject, type Project } from './fixtures.ts';
import { many, opened, project } from './suite.ts';

/** Tests the erasure of a user on one backend. */
export function testErasure(): void {
  const deleted = async (erasure: ReturnType<Project['erase']>) => {
    return bodyOf<Deleted>(await erasure).deleted;
  };

  test('of thousands of memories counts all of them, and its replay is equal', async () => {
    await project.import(many(1_100));
    await project.import(many(7, 'v'));
    const idempotency = keyed('k');
    const first = await project.erase('u', { idempotency });
    expect(first).toMatchObject({ response: { status: 200, body: '{"deleted":1100}' } });
    expect((await project.users()).items).toMatchObject([{ userId: 'v', memories: 7 }]);
    await project.import(many(1));
    expect(await project.erase('u', { idempotency })).toEqual({ ...first, replayed: true });
    expect(await project.list()).toHaveLength(1);
  });

  test('of thousands of memories does not block other writes', async () => {
    await project.import(many(2_000));
    const erasing = deleted(project.erase());
    const saved = project.save(memory({ userId: 'v' }));
    const first = await Promise.race([erasing, saved.then(() => 'the save')]);
    expect<unknown>(first).toBe('the save');
    expect(await erasing).toBe(2_000);
    expect(await project.list('v')).toHaveLength(1);
  });

  test('counts the removed memories, even during concurrent writes to the user', async () => {
    await project.import(many(2_000));
    let isErased = false;
    const erasing = project.erase().finally(() => {
      isErased = true;
    });
    let saved = 0;
    while (!isErased) {
      await project.save(memory());
      saved += 1;
    }
    const count = await deleted(erasing);
    const left = await project.list();
    expect(count + left.length).toBe(2_000 + saved);
    const { items } = await project.users();
    expect(items[0]?.memories ?? 0).toBe(left.length);
    expect(await project.search('hello', { limit: 100 })).toHaveLength(Math.min(100, left.length));
  });

  test('sent twice concurrently under one key has one response, which counts all memories', async () => {
    await project.import(many(1_300));
    const erase = () => deleted(project.erase('u', { idempotency: keyed('k') }));
    expect(await Promise.all([erase(), erase()])).toEqual([1_300, 1_300]);
  });

  test('sent twice concurrently under two keys counts each memory once', async () => {
    await project.import(many(1_300));
    const erase = (key: string) => deleted(project.erase('u', { idempotency: keyed(key) }));
    const [first = 0, second = 0] = await Promise.all([erase('a'), erase('b')]);
    expect(first + second).toBe(1_300);
  });

  test('interrupted by a close is complete or not acknowledged', async () => {
    await project.import(many(1_100));
    const erasing = project.erase('u', { idempotency: keyed('k') }).catch(() => null);
    await opened.reopen();
    const erased = await erasing;
    const left = (await project.list()).length;
    expect((await project.users()).items[0]?.memories ?? 0).toBe(left);
    if (erased !== null) expect(left).toBe(0);
    await project.erase('u', { idempotency: keyed('k') });
    expect(await project.list()).toEqual([]);
  });

  test('keeps the stored responses of other users, and of the same id in another project', async () => {
    const other = await newProject(opened);
    const [mine, theirs] = [memory(), memory({ userId: 'v' })];
    const idempotency = keyed('kept');
    const saveTheirs = () => project.save(theirs, { idempotency });
    const saveElsewhere = () => other.save(mine, { idempotency });
    await project.save(mine);
    const [first, second] = [await saveTheirs(), await saveElsewhere()];
    await project.erase();
    expect(await saveTheirs()).toEqual({ ...first, replayed: true });
    expect(await saveElsewhere()).toEqual({ ...second, replayed: true });
  });

  test('under a key is separate from concurrent erasures of other users and projects', async () => {
    const other = await newProject(opened);
    await project.import(many(600));
    await project.import(many(3, 'v'));
    await other.import(many(3));
    const counts = await Promise.all([
      deleted(project.erase('u', { idempotency: keyed('a') })),
      deleted(project.erase('v', { idempotency: keyed('b') })),
      deleted(other.erase('u', { idempotency: keyed('a') })),
    ]);
    expect(counts).toEqual([600, 3, 3]);
    expect((await project.users()).items).toEqual([]);
    expect(await other.list()).toEqual([]);
  });

  test('hides no memory that is imported for the same user later', async () => {
    const users = Array.from({ length: 30 }, (_, n) => `user ${n}`);
    const importFor = (content: string) =>
      project.import(users.map((userId) => imported({ userId, content })));
    const found = async (userId: string) =>
      (await project.search('lantern', { userId })).map(({ content }) => content);
    await importFor('old lantern');
    for (const userId of users) expect(await found(userId)).toEqual(['old lantern']);
    await Promise.all(users.map((userId) => project.erase(userId)));
    await importFor('new lantern');
    // A user's first change number is random, so each user is a separate case.
    for (const userId of users) expect(await found(userId)).toEqual(['new lantern']);
  });
}
