import { expect, test } from 'bun:test';
import type { BatchAccepted } from '../../sdk/contract/ingest.ts';
import type { NewMemory, WriteResult } from '../../server/storage/types/memories.ts';
import { rowsOf } from '../support/rows.ts';
import { rejectionOf } from '../support/thrown.ts';
import { bodyOf, claim, keyed, memory, record, type WriteFields } from './fixtures.ts';
import { completeAll, externalKey, fail, opened, project } from './suite.ts';

const given = {
  ...externalKey,
  content: 'the same',
  metadata: '{"a":[1,{"x":null,"y":"2"}],"b":true}',
  occurredAt: 3,
  expiresAt: 9_000,
};
/** The same metadata with other spaces and another order of keys. */
const sameMetadata = '{ "b":true, "a":[1,{"y":"2","x":null}] }';

type Fields = Partial<NewMemory>;
type Repeat = (fields: Fields, more: WriteFields) => Promise<WriteResult>;

/** The writes that can repeat a memory, with its type and the status of their responses. */
const repeats: [name: string, type: NewMemory['type'], status: number, repeat: Repeat][] = [
  ['a save', 'memory', 200, (fields, more) => project.save(memory(fields), more)],
  ['an ingest', 'document', 202, (fields, more) => project.ingest(record(fields), more)],
  ['a batch', 'document', 202, (fields, more) => project.acceptBatch([record(fields)], more)],
];

/** Tests that a write that changes nothing has no effect but its response. */
export function testUnchanged(): void {
  /** Stores the memory of the given type, waits until it is complete, and returns its id. */
  async function stored(type: NewMemory['type'], fields: Fields = {}): Promise<string> {
    if (type === 'memory') return bodyOf(await project.save(memory({ ...given, ...fields }))).id;
    const id = await project.acceptOne({ ...given, ...fields });
    await completeAll();
    return id;
  }

  const stateOf = async (id: string) => [
    await project.get(id),
    await project.status(id),
    await opened.storage.taskQueueState(),
    (await project.users()).items,
  ];

  for (const [write, type, status, repeat] of repeats) {
    test(`${write}: leaves the memory, its status and the queue as they are`, async () => {
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
    });

    test.each<[field: string, change: Fields]>([
      ['content', { content: 'The same' }],
      ['metadata', { metadata: '{"a":[1,{"x":null,"y":2}],"b":true}' }],
      ['the order of an array in metadata', { metadata: '{"a":[{"x":null,"y":"2"},1],"b":true}' }],
      ['metadata by one key', { metadata: '{"a":[1,{"x":null,"y":"2"}]}' }],
      ['occurredAt', { occurredAt: 4 }],
      ['occurredAt, which is omitted', { occurredAt: null }],
      ['expiresAt', { expiresAt: 9_001 }],
      ['expiresAt, which is omitted', { expiresAt: null }],
      ['type', { type: 'ticket' }],
    ])(`${write} of another %s is a change`, async (_, change) => {
      const id = await stored(type);
      await repeat({ ...given, ...change }, { at: 5_000 });
      const changed = { ...change, version: 2, updatedAt: 5_000 };
      expect(await project.get(id)).toMatchObject(changed);
    });

    test(`${write}: uses up its idempotency key`, async () => {
      const id = await stored(type);
      const more = { at: 5_000, idempotency: keyed('k') };
      const first = await repeat(given, more);
      await project.update(id, { content: 'newer' });
      expect(await repeat(given, more)).toEqual({ ...first, replayed: true });
      const idempotency = keyed('k', { fingerprint: 'g' });
      const other = repeat(given, { idempotency });
      expect(await rejectionOf(other)).toMatchObject({ code: 'idempotency_key_reused' });
      expect(await project.get(id)).toMatchObject({ content: 'newer', version: 2 });
    });

    test(`${write} of a record that is processing or failed is a change`, async () => {
      const fields = { ...given, type };
      const [id = ''] = await project.accept([record(fields)]);
      await repeat(fields, { at: 5_000 });
      expect(await project.get(id)).toMatchObject({ version: 2, updatedAt: 5_000 });
      await project.accept([record({ ...fields, content: 'to fail' })]);
      for (const task of await claim(opened.storage)) await fail(task, null, 6_000);
      expect(await project.status(id)).toMatchObject({ status: 'failed' });
      await repeat({ ...fields, content: 'to fail' }, { at: 7_000 });
      const again = type === 'memory' ? 'complete' : 'processing';
      expect(await project.status(id)).toMatchObject({ status: again, errorMessage: null });
      expect(await project.get(id)).toMatchObject({ version: 4, updatedAt: 7_000 });
    });
  }

  test('in a batch: each record counts for itself, and the status is that of the memory', async () => {
    const fields = (externalId: string) => ({ ...given, externalId });
    const ids = await project.accept(['same', 'then', 'back'].map((e) => record(fields(e))));
    await completeAll();
    const [same = '', then = '', back = ''] = ids;
    const other = { content: 'other' };
    const batch = [
      fields('same'),
      fields('new'),
      fields('then'),
      { ...fields('back'), ...other },
      { ...fields('then'), ...other },
      fields('back'),
      fields('same'),
      fields('new'),
    ];
    const result = await project.acceptBatch(batch.map(record), { at: 5_000 });
    const { items } = bodyOf<BatchAccepted>(result);
    const added = items[1]?.memoryId ?? '';
    expect(items.map(({ memoryId, status }) => [memoryId, status])).toEqual([
      [same, 'complete'],
      [added, 'processing'],
      [then, 'processing'],
      [back, 'processing'],
      [then, 'processing'],
      [back, 'processing'],
      [same, 'complete'],
      [added, 'processing'],
    ]);
    const versions = [same, then, back, added].map(async (id) => (await project.get(id))?.version);
    expect(await Promise.all(versions)).toEqual([1, 2, 3, 2]);
    const tasks = await claim(opened.storage, { now: 5_000 });
    expect(tasks.map(({ memoryId }) => memoryId).sort()).toEqual([then, back, added].sort());
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
