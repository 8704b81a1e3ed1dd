import { expect, test } from 'bun:test';
import { filterOf } from '../../server/memory/filter.ts';
import type { MemoryToEmbed, SearchMeaning, ToEmbed } from '../../server/storage/types/vectors.ts';
import { rowsOf } from '../support/rows.ts';
import { until } from '../support/until.ts';
import { imported, memory, record } from './fixtures.ts';
import { completeAll, opened, project } from './suite.ts';

const dims = 8;
const described = { dims, mean: 0.1, deviation: 0.1, centre: 'AAAA', probe: 'AAAA' };

/** A stored vector: a scale, then eight int8. */
function vector(first: number): string {
  const bytes = Buffer.alloc(4 + dims);
  bytes.writeFloatLE(0.01, 0);
  bytes.writeInt8(first, 4);
  return bytes.toString('base64');
}

/** Tests the operations of the model thread, and what a search knows of vectors. */
export function testVectors(): void {
  let modelId: number;
  const useModel = async (digest: string = crypto.randomUUID()) => {
    const model = await opened.storage.ensureModel({ name: 'm', digest, ...described });
    modelId = model.modelId;
    return model;
  };
  const user = (userId = 'u') => ({ projectId: project.id, userId });
  const work = (limit = 100, userId = 'u'): Promise<ToEmbed> =>
    opened.storage.memoriesToEmbed({ ...user(userId), modelId, limit });
  const store = (
    { from, upTo, memories }: ToEmbed,
    data: (memory: MemoryToEmbed) => string | null = () => vector(1),
  ) => {
    const vectors = memories.map((one) => {
      const { id, change, content } = one;
      return { id, change, textHash: content, data: data(one) };
    });
    return opened.storage.storeVectors({ ...user(), modelId, from, upTo, vectors });
  };
  const embedAll = async () => store(await work());
  const meaningOf = (question: Float32Array): SearchMeaning => {
    const { buffer } = new Float32Array(question);
    const vector = Buffer.from(buffer).toString('base64');
    return { ...described, fluency: 1, alone: true, modelId, vector };
  };
  /** The memories whose vectors are like the first dimension. */
  const similar = async () => {
    const meaning = meaningOf(Float32Array.of(1, ...Array(dims - 1).fill(0)));
    const items = await project.search('unknown', { meaning });
    return items.map(({ id }) => id);
  };
  /** How many of the user's memories a search has no vectors of. */
  const missing = async (userId = 'u') => {
    const meaning = { ...meaningOf(new Float32Array(dims)), alone: false };
    const read = { projectId: project.id, now: 2_000, userId, filter: filterOf({}), limit: 10 };
    const { items, ...used } = await opened.storage.searchMemories({
      ...read,
      query: 'hello',
      meaning,
    });
    const byWords = await opened.storage.searchMemories({ ...read, query: 'hello' });
    expect(byWords).toMatchObject({ meaning: 'off' });
    return used;
  };
  const none = { meaning: 'used' as const };

  test('memories are embedded once, in order of change', async () => {
    const { digest } = await useModel();
    await project.save(memory({ id: 'mem_1', content: 'hello one', metadata: '{"a":1}' }));
    await project.save(memory({ id: 'mem_2', content: 'hello two' }));
    expect(await missing()).toEqual({ missing: 2, meaning: 'partial' });
    const found = await work();
    expect(found.memories).toMatchObject([
      { id: 'mem_1', content: 'hello one', metadata: '{"a":1}', textHash: null },
      { id: 'mem_2', content: 'hello two', textHash: null },
    ]);
    expect(await store(found)).toBe(true);
    expect(await missing()).toEqual(none);
    // A server starts with the same model.
    await useModel(digest);
    const left = await work();
    expect(left).toEqual({ from: left.upTo, upTo: left.upTo, memories: [] });
    expect(await opened.storage.usersToEmbed({ limit: 10 })).not.toContainEqual(user());
    const backlog = await opened.storage.embeddingBacklog();
    await project.save(memory());
    expect(await opened.storage.embeddingBacklog()).toBe(backlog + 1);
  });

  test('of a batch, each step makes a part searchable and shortens the backlog', async () => {
    await useModel();
    const before = await opened.storage.embeddingBacklog();
    await project.import(Array.from({ length: 7 }, () => imported()));
    const ids = new Set<string>();
    for (let found = await work(3); ids.size < 7; found = await work(3)) {
      expect(found.memories).toHaveLength(Math.min(3, 7 - ids.size));
      for (const { id } of found.memories) ids.add(id);
      expect(await store(found)).toBe(true);
      const left = { missing: 7 - ids.size, meaning: 'partial' as const };
      expect(await missing()).toEqual(ids.size < 7 ? left : none);
      expect(await opened.storage.embeddingBacklog()).toBe(before + 7 - ids.size);
    }
    expect((await work()).memories).toEqual([]);
    expect(await missing()).toEqual(none);
  });

  test('a second server that has done the same work stores nothing', async () => {
    await useModel();
    await project.save(memory({ id: 'mem_1' }));
    const [ours, theirs] = [await work(), await work()];
    expect(await store(theirs)).toBe(true);
    expect(await store(ours)).toBe(false);
  });

  test('vectors of a text that has changed in the meantime are not stored', async () => {
    await useModel();
    await project.save(memory({ id: 'mem_1' }));
    const before = await work();
    const { changedUserId } = await project.update('mem_1', { content: 'hello again' });
    expect(changedUserId).toBe('u');
    expect(await store(before)).toBe(true);
    expect(await missing()).toEqual({ missing: 1, meaning: 'partial' });
    expect((await work()).memories).toMatchObject([{ content: 'hello again', textHash: null }]);
    await embedAll();
    expect(await missing()).toEqual(none);
  });

  test('vectors of a former text are not compared', async () => {
    await useModel();
    await project.save(memory({ id: 'mem_1' }));
    await project.save(memory({ id: 'mem_2', content: 'another' }));
    await store(await work(), ({ id }) => vector(id === 'mem_1' ? 100 : -100));
    expect(await similar()).toEqual(['mem_1']);
    await project.update('mem_1', { content: 'hello again' });
    expect(await similar()).toEqual([]);
    await store(await work(), () => vector(-100));
    expect(await similar()).toEqual([]);
    await project.update('mem_1', { content: 'hello' });
    await store(await work(), () => vector(100));
    expect(await similar()).toEqual(['mem_1']);
  });

  test('a changed tag keeps the vectors, also those of another memory with the text', async () => {
    await useModel();
    await project.save(memory({ id: 'mem_1' }));
    await project.save(memory({ id: 'mem_2' }));
    await embedAll();
    const ofOther = `SELECT change FROM vectors
      WHERE project_id = ${project.id} AND memory_id = 'mem_2'`;
    const before = await rowsOf(opened.url, ofOther);
    await project.update('mem_1', { metadata: '{"tag":1}' });
    const found = await work();
    expect(found.memories).toMatchObject([{ id: 'mem_1', textHash: 'hello' }]);
    expect(await store(found, () => null)).toBe(true);
    expect(await missing()).toEqual(none);
    expect(await rowsOf(opened.url, ofOther)).toEqual(before);
    expect((await work()).memories).toEqual([]);
  });

  test('a record has vectors before and after it is processed', async () => {
    await useModel();
    await project.accept([record({ id: 'mem_1' })]);
    await embedAll();
    await missing();
    await completeAll();
    await embedAll();
    expect(await missing()).toEqual(none);
  });

  test('a memory that was deleted while its text was embedded leaves no vectors', async () => {
    await useModel();
    await project.import(['mem_1', 'mem_2'].map((id) => imported({ id })));
    const found = await work();
    await project.remove('mem_1');
    expect(await store(found)).toBe(true);
    const stored = `SELECT memory_id FROM vectors WHERE project_id = ${project.id}`;
    expect(await rowsOf(opened.url, stored)).toEqual([{ memory_id: 'mem_2' }]);
  });

  test('another model does not use the vectors of the first', async () => {
    const first = await useModel();
    await project.save(memory({ id: 'mem_1' }));
    await embedAll();
    expect(await opened.storage.presentModel()).toEqual(first);
    const second = await useModel();
    expect(second.modelId).not.toBe(first.modelId);
    expect(await opened.storage.presentModel()).toEqual(second);
    expect(await missing()).toEqual({ missing: 1, meaning: 'partial' });
    expect((await work()).memories).toMatchObject([{ id: 'mem_1', textHash: null }]);
    await embedAll();
    expect(await missing()).toEqual(none);
    // The same model again: it is known, but its vectors have been replaced.
    expect(await useModel(first.digest)).toEqual(first);
    expect((await work()).memories).toHaveLength(1);
  });

  test('the work of a server with the former model does not count as done', async () => {
    const former = await useModel();
    await project.save(memory({ id: 'mem_1' }));
    await embedAll();
    const present = await useModel();
    modelId = former.modelId;
    const done = await work();
    expect(done.memories).toEqual([]);
    expect(await store(done)).toBe(false);
    modelId = present.modelId;
    expect((await work()).memories).toMatchObject([{ id: 'mem_1', textHash: null }]);
  });

  test('deleted and erased memories leave no work', async () => {
    await useModel();
    await project.save(memory({ id: 'mem_1' }));
    await project.save(memory({ id: 'mem_2' }));
    await embedAll();
    await project.remove('mem_1');
    expect((await work()).memories).toEqual([]);
    expect(await missing()).toEqual(none);
    await project.erase();
    expect(await work()).toEqual({ from: -1, upTo: -1, memories: [] });
    await project.save(memory({ id: 'mem_3' }));
    expect(await missing()).toEqual({ missing: 1, meaning: 'partial' });
  });

  test('large texts are read one at a time', async () => {
    await useModel();
    const content = 'hello '.repeat(15_000);
    await project.import([imported({ content }), imported({ content }), imported({ content })]);
    expect((await work()).memories).toHaveLength(1);
  });

  test('users of all projects take turns, and the backlog counts their memories', async () => {
    await useModel();
    await project.save(memory({ userId: 'a' }));
    await project.save(memory({ userId: 'b' }));
    const users = await opened.storage.usersToEmbed({ limit: 1_000 });
    expect(users).toContainEqual(user('a'));
    expect(users).toContainEqual(user('b'));
    const projects = new Set(users.map(({ projectId }) => projectId));
    const first = await opened.storage.usersToEmbed({ limit: projects.size });
    expect(first.map(({ projectId }) => projectId)).toEqual([...projects]);
    const before = await opened.storage.embeddingBacklog();
    await project.import([imported({ userId: 'c' }), imported({ userId: 'c' })]);
    expect(await opened.storage.embeddingBacklog()).toBe(before + 2);
  });

  test('of memories that expire together, only their parts are dropped', async () => {
    await useModel();
    for (const expiresAt of [5_000, null, 5_000]) {
      await project.import([
        imported({ expiresAt }),
        ...Array.from({ length: 499 }, () => imported()),
      ]);
    }
    for (let left = await work(5_000); left.memories.length > 0; left = await work(5_000))
      await store(left);
    await opened.storage.storeSnapshotOf({ owner: user() });
    const text = `SELECT last_change FROM vector_parts WHERE project_id = ${project.id} ORDER BY 1`;
    const stored = () => rowsOf(opened.url, text);
    const [, middle] = await until(stored, {
      what: 'the parts',
      fits: ({ length }) => length === 3,
    });
    await opened.storage.maintain({ now: 5_000, elapsedMs: 0 });
    expect(await stored()).toEqual([middle ?? {}]);
  });

  test('of indexes that are too large, none is stored before a search', async () => {
    await project.import(Array.from({ length: 200 }, () => imported()));
    const next = () => opened.storage.nextUnstored({ after: { ...user(), userId: '' } });
    expect(await next()).toEqual(user());
    for (const large of ['memories = 250000', 'memories = 200, bytes = 9000000']) {
      await rowsOf(opened.url, `UPDATE users SET ${large} WHERE project_id = ${project.id}`);
      expect(await next()).toBeNull();
    }
  });
}
