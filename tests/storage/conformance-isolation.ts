import { expect, test } from 'bun:test';
import type { WriteResult } from '../../server/storage/types/memories.ts';
import { rejectionOf } from '../support/thrown.ts';
import { bodyOf, imported, keyed, memory, newProject, type Project, record } from './fixtures.ts';
import { externalKey, opened, project } from './suite.ts';

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
    for (const one of [first, own, last]) await one.save(memory({ ...externalKey, id: same.id }));
    const others = [first, last];
    for (const one of others) await one.save(memory({ id: 'mem_theirs' }));
    const state = () => Promise.all(others.flatMap((one) => [one.list(), one.users()]));
    const before = await state();
    expect(await run(own)).toMatchObject(result);
    expect(await state()).toEqual(before);
  });

  test('an erasure keeps the tasks of other users, and of the same id in another project', async () => {
    const [mine, theirs] = [record(), record({ userId: 'v' })];
    const other = await newProject(opened);
    await project.accept([mine, theirs]);
    await other.accept([record({ id: mine.id })]);
    await project.erase();
    expect((await opened.storage.taskQueueState()).pending).toBe(2);
    expect(await project.get(theirs.id)).toMatchObject({ status: 'processing' });
    expect(await other.get(mine.id)).toMatchObject({ status: 'processing' });
  });

  test('an update of a memory completes no other task', async () => {
    const [id = '', waiting = '', foreign = ''] = await project.accept([
      record(),
      record(),
      record({ userId: 'v' }),
    ]);
    const theirs = await newProject(opened);
    await theirs.accept([record({ id })]);
    await project.update(id, { content: 'newer' });
    expect(await project.get(id)).toMatchObject({ status: 'complete' });
    for (const other of [waiting, foreign]) {
      expect(await project.get(other)).toMatchObject({ status: 'processing' });
    }
    expect(await theirs.get(id)).toMatchObject({ status: 'processing' });
    expect((await opened.storage.taskQueueState()).pending).toBe(3);
  });

  test('the responses to updates under one key are separate for each project and scope', async () => {
    const theirs = await newProject(opened);
    for (const one of [project, theirs]) await one.save(memory({ id: 'mem_known' }));
    const update = (one: Project, content: string, scope: string) => {
      return one.update('mem_known', { content }, { idempotency: keyed('k', { scope }) });
    };
    const updates = [
      () => update(project, 'one', ''),
      () => update(project, 'two', 'ada'),
      () => update(theirs, 'three', ''),
    ];
    const first: WriteResult[] = [];
    for (const run of updates) first.push(await run());
    expect(first.map(({ changedUserId }) => changedUserId)).toEqual(['u', 'u', 'u']);
    for (const [index, run] of updates.entries()) {
      expect<unknown>(await run()).toEqual({ response: first[index]?.response, replayed: true });
    }
  });

  test('a write gets its own response if the write before it is rejected', async () => {
    const given = memory();
    const rejected = rejectionOf(project.remove('mem_unknown'));
    const saved = await project.save(given);
    expect(bodyOf(saved)).toMatchObject({ id: given.id, content: given.content });
    expect(await rejected).toMatchObject({ code: 'not_found' });
  });
}
