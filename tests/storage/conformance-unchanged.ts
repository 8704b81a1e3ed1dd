import { expect, test } from 'bun:test';
import type { NewMemory, WriteResult } from '../../server/storage/types/memories.ts';
import { rowsOf } from '../support/rows.ts';
import { bodyOf, memory, record, type WriteFields } from './fixtures.ts';
import { completeAll, externalKey, opened, project } from './suite.ts';

const given = {
  ...externalKey,
  content: 'the same',
  metadata: '{"a":[1,{"x":null,"y":"2"}],"b":true}',
  occurredAt: 3,
  expiresAt: 9_000,
};
/** The same metadata with other spaces and another order of keys. */
const sameMetadata = '{ "b":true, "a":[1,{"y":"2","x":null}] }';

type Repeat = (fields: Partial<NewMemory>, more: WriteFields) => Promise<WriteResult>;

/** The writes that can repeat a memory, with its type and the status of their responses. */
const repeats: [name: string, type: NewMemory['type'], status: number, repeat: Repeat][] = [
  ['a save', 'memory', 200, (fields, more) => project.save(memory(fields), more)],
  ['an ingest', 'document', 202, (fields, more) => project.ingest(record(fields), more)],
  ['a batch', 'document', 202, (fields, more) => project.acceptBatch([record(fields)], more)],
];

/**
 * Tests that a write that changes nothing has no effect but its response. model.test.ts has the
 * writes that change one field of a memory, each alone and in batches.
 */
export function testUnchanged(): void {
  /** Stores the memory of the given type, waits until it is complete, and returns its id. */
  async function stored(type: NewMemory['type']): Promise<string> {
    if (type === 'memory') return bodyOf(await project.save(memory(given))).id;
    const id = await project.acceptOne(given);
    await completeAll();
    return id;
  }

  const stateOf = async (id: string) => [
    await project.get(id),
    await project.status(id),
    await opened.storage.taskQueueState(),
    (await project.users()).items,
  ];

  test.each(repeats)(
    '%s: leaves the memory, its status and the queue as they are',
    async (_, type, status, repeat) => {
      const id = await stored(type);
      const before = await stateOf(id);
      for (const fields of [given, { ...given, metadata: sameMetadata }]) {
        const { response } = await repeat(fields, { at: 5_000 });
        expect(response.status).toBe(status);
        expect(response.body).toContain(`"memoryId":"${id}"`);
        expect(response.body).toContain('"status":"complete"');
        expect(await stateOf(id)).toEqual(before);
      }
      expect(await project.search('same')).toMatchObject([{ id, version: 1 }]);
    },
  );

  test.each<[what: string, metadata: string]>([
    ['a value of another type', '{"a":[1,{"x":null,"y":2}],"b":true}'],
    ['another order of an array', '{"a":[{"x":null,"y":"2"},1],"b":true}'],
    ['one key less', '{"a":[1,{"x":null,"y":"2"}]}'],
  ])('metadata with %s is a change', async (_, metadata) => {
    const id = await stored('memory');
    await project.save(memory({ ...given, metadata }), { at: 5_000 });
    expect(await project.get(id)).toMatchObject({ metadata, version: 2, updatedAt: 5_000 });
  });

  test('among writes that arrive together: only changes count', async () => {
    const id = await stored('memory');
    const contents = ['the same', 'the same', 'other', 'other', 'the same', 'the same'];
    const results = await Promise.all(
      contents.map((content) => project.save(memory({ ...given, content }), { at: 5_000 })),
    );
    // Each write that differs from the one before it is a change, in whatever order they run.
    const versions = results.map(({ response }) => response.version ?? 0);
    const last = Math.max(...versions);
    expect(last).toBeWithin(2, 6);
    expect(await project.get(id)).toMatchObject({ version: last });
    const byVersion = Map.groupBy(results, ({ response }) => response.version);
    for (const same of byVersion.values()) {
      expect(new Set(same.map(({ response }) => response.body)).size).toBe(1);
    }
  });

  test('does not count as a change of the user, which would update search indexes', async () => {
    const changes = () => {
      const text = `SELECT last_change FROM users WHERE project_id = ${project.id} ORDER BY user_id`;
      return rowsOf(opened.url, text);
    };
    const id = await stored('memory');
    const records = ['v', 'w'].map((userId) => record({ ...given, userId }));
    await project.accept(records);
    await completeAll();
    const before = await changes();
    await project.save(memory(given));
    await project.update(id, { content: given.content });
    await project.ingest(record({ ...given, userId: 'v' }));
    await project.accept(records);
    expect(await changes()).toEqual(before);
    // Each user's records count separately.
    await project.accept([...records, record({ ...given, userId: 'v', content: 'other' })]);
    const [u, v, w] = await changes();
    expect([u, w]).toEqual([before[0], before[2]]);
    expect(v).not.toEqual(before[1]);
  });
}
