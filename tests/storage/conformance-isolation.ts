import { expect, test } from 'bun:test';
import { bodyOf, imported, memory, newProject, type Project, record } from './fixtures.ts';
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
