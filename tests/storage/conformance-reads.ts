import { describe, expect, test } from 'bun:test';
import type { Filter } from '../../server/storage/types.ts';
import { rejectionOf } from '../support/thrown.ts';
import { imported, memory, type OpenStorage, type Project, record, walk } from './fixtures.ts';
import { withStorage } from './suite.ts';

const full = {
  source: 's',
  externalId: 'e',
  type: 'event',
  occurredAt: 500,
  metadata: '{"n":1,"b":true,"t":"x\\"y","l":["a",2],"o":{"n":1},"null":null}',
} as const;

const withKey = (key: string, value: string): Partial<Filter> => ({ metadata: [{ key, value }] });

/** Filters, and whether each matches `full`. None matches a memory without these fields. */
const filters: [name: string, filter: Partial<Filter>, passes: boolean][] = [
  ['its type', { type: 'event' }, true],
  ['another type', { type: 'ticket' }, false],
  ['its source', { source: 's' }, true],
  ['its source in upper case', { source: 'S' }, false],
  ['its source and external id', { source: 's', externalId: 'e' }, true],
  ['its source and another external id', { source: 's', externalId: 'f' }, false],
  ['a `from` equal to its time', { from: 500 }, true],
  ['a `from` after its time', { from: 501 }, false],
  ['a `to` after its time', { from: 400, to: 501 }, true],
  ['a `to` equal to its time', { from: 400, to: 500 }, false],
  ['a number by its JSON text', withKey('n', '1'), true],
  ['a number in another notation', withKey('n', '1.0'), false],
  ['another number', withKey('n', '2'), false],
  ['a boolean', withKey('b', 'true'), true],
  ['a text with a quote', withKey('t', 'x"y'), true],
  ['an element of a list', withKey('l', 'a'), true],
  ['a number in a list', withKey('l', '2'), true],
  ['an object', withKey('o', '1'), false],
  ['null', withKey('null', 'null'), false],
  ['a key that it lacks', withKey('a', '1'), false],
  [
    'two keys that it has',
    { metadata: [withKey('n', '1'), withKey('b', 'true')].flatMap(keys) },
    true,
  ],
  ['one key of two', { metadata: [withKey('n', '1'), withKey('b', 'false')].flatMap(keys) }, false],
];

function keys({ metadata = [] }: Partial<Filter>): Filter['metadata'] {
  return metadata;
}

const foreignPositions = [
  '',
  'x',
  'x mem_1',
  '1 x',
  '12 mem_1 ',
  '99999999999999999999 mem_1',
  '.',
  'x.mem_1',
];

/** Tests lists, filters, users and statuses. */
export function testReads(name: string, open: OpenStorage): void {
  describe(`${name}: lists`, () => {
    let project: Project;
    withStorage(open, (_, own) => {
      project = own;
    });

    test('are ordered by creation time and id, in both directions and across pages', async () => {
      const times = [5, 3, 5, 9, 5, 1, 3];
      for (const [index, at] of times.entries()) {
        await project.save(memory({ id: `mem_${(index * 3) % 7}` }), { at });
      }
      await project.save(memory({ userId: 'other' }), { at: 4 });
      const all = await project.list('u', { order: 'asc' });
      const sorted = all.map(({ createdAt, id }) => `${createdAt} ${id}`);
      expect(sorted).toEqual([...sorted].sort());
      expect(all).toHaveLength(times.length);
      expect(await project.list('u', { order: 'desc' })).toEqual([...all].reverse());
      for (const order of ['asc', 'desc'] as const) {
        for (const limit of [1, 2, 7, 8]) {
          const pages = await walk((after) => project.page('u', { order, limit, after }));
          expect(pages.flat()).toEqual(await project.list('u', { order }));
          expect(pages).toHaveLength(Math.ceil(times.length / limit));
        }
      }
    });

    test.each(foreignPositions)('and exports reject the position %j', async (after) => {
      const invalid = { code: 'invalid_request', details: [{ field: 'cursor' }] };
      expect(await rejectionOf(project.page('u', { after }))).toMatchObject(invalid);
      expect(await rejectionOf(project.exportPage({ after }))).toMatchObject(invalid);
    });

    test('return every memory that existed at the first page exactly once', async () => {
      const given = Array.from({ length: 9 }, (_, n) => imported({ createdAt: n }));
      await project.import(given);
      for (const order of ['asc', 'desc'] as const) {
        const pages = await walk(async (after) => {
          const page = await project.page('u', { order, limit: 2, after });
          await project.import([imported({ createdAt: -1 }), imported({ createdAt: 100 })]);
          return page;
        });
        const seen = pages.flat().map(({ id }) => id);
        expect(new Set(seen).size).toBe(seen.length);
        for (const { id } of given) expect(seen).toContain(id);
      }
    });

    test('return shorter pages for large memories, and no empty page', async () => {
      const megabyte = 'x'.repeat(1_000_000);
      const large = Array.from({ length: 6 }, (_, n) => record({ content: `${n}${megabyte}` }));
      await project.accept([...large, record({ content: megabyte.repeat(5) })]);
      for (const filter of [{}, { type: 'document' } as const]) {
        const pages = await walk((after) => project.page('u', { limit: 100, after, filter }));
        expect(pages.length).toBeGreaterThan(1);
        expect(Math.min(...pages.map((page) => page.length))).toBeGreaterThan(0);
        expect(pages.flat()).toHaveLength(7);
      }
    });

    test('with a filter return the matching memories, as searches do', async () => {
      await project.save(memory({ ...full, content: 'the full one' }), { at: 100 });
      await project.save(memory({ content: 'the bare one' }), { at: 200 });
      for (const [which, filter, passes] of filters) {
        const listed = await project.list('u', { filter });
        const found = await project.search('one', { filter });
        const expected = [which, ...(passes ? ['the full one'] : [])];
        expect([which, ...listed.map(({ content }) => content)]).toEqual(expected);
        expect([which, ...found.map(({ content }) => content)]).toEqual(expected);
      }
    });

    test('with a filter return each match once, with thousands of memories between two', async () => {
      const typeAt = (n: number) => (n % 2_050 === 0 ? 'event' : 'memory');
      const given = Array.from({ length: 2_100 }, (_, createdAt) => {
        return imported({ createdAt, type: typeAt(createdAt) });
      });
      await project.import(given);
      for (const order of ['asc', 'desc'] as const) {
        const listed = await project.list('u', { order, filter: { type: 'event' } });
        const ids = given.filter(({ type }) => type === 'event').map(({ id }) => id);
        expect(listed.map(({ id }) => id)).toEqual(order === 'asc' ? ids : ids.reverse());
      }
    });

    test('use the creation time of a memory without occurredAt', async () => {
      await project.save(memory({ content: 'created' }), { at: 200 });
      await project.save(memory({ content: 'occurred', occurredAt: 300 }), { at: 900 });
      const within = (from: number | null, to: number | null) =>
        project.list('u', { filter: { from, to } }).then((all) => all.map((m) => m.content));
      expect(await within(200, 300)).toEqual(['created']);
      expect(await within(201, null)).toEqual(['occurred']);
      expect(await within(null, 301)).toEqual(['occurred', 'created']);
      expect(await within(500, 1_000)).toEqual([]);
    });

    test('with a filter continue past many memories that do not match', async () => {
      const tagOf = (n: number) => JSON.stringify({ tag: n % 500 === 7 ? 'yes' : 'no' });
      const given = Array.from({ length: 5_000 }, (_, n) =>
        imported({ createdAt: n, metadata: tagOf(n) }),
      );
      await project.import(given);
      const wanted = given.filter((_, n) => n % 500 === 7).map(({ id }) => id);
      for (const order of ['asc', 'desc'] as const) {
        const walkTag = (tag: string) => {
          const filter = withKey('tag', tag);
          return walk((after) => project.page('u', { filter, order, limit: 4, after }));
        };
        const pages = await walkTag('yes');
        expect(pages.map((page) => page.length)).toEqual([4, 4, 2]);
        const ids = pages.flat().map(({ id }) => id);
        expect(ids).toEqual(order === 'asc' ? wanted : wanted.toReversed());
        expect(await walkTag('maybe')).toEqual([[]]);
      }
    });

    test('with a filter continue past many memories that only seem to match', async () => {
      // Most memories contain both texts of the filter, but the value belongs to another key.
      const seeming = '{"tag":"no","next":"yes"}';
      const given = Array.from({ length: 600 }, (_, n) =>
        imported({ createdAt: n, metadata: n % 100 === 7 ? '{"tag":"yes"}' : seeming }),
      );
      await project.import(given);
      const range = { filter: withKey('tag', 'yes'), order: 'asc', limit: 4 } as const;
      const pages = await walk((after) => project.page('u', { ...range, after }));
      const wanted = given.filter((_, n) => n % 100 === 7).map(({ id }) => id);
      const ids = pages.map((page) => page.map(({ id }) => id));
      expect(ids).toEqual([wanted.slice(0, 4), wanted.slice(4)]);
    });

    test('continue after a memory that is several times as large as a page', async () => {
      const huge = imported({ content: '語'.repeat(4_500_000), createdAt: 1 });
      const small = imported({ createdAt: 2 });
      await project.import([huge, small]);
      const pages = await walk((after) => project.page('u', { order: 'asc', limit: 100, after }));
      expect(pages.flat().map(({ id }) => id)).toEqual([huge.id, small.id]);
    });
  });

  describe(`${name}: users`, () => {
    let project: Project;
    withStorage(open, (_, own) => {
      project = own;
    });

    test('are listed by their ids, page by page', async () => {
      const ids = ['b', 'a', 'B', 'ä', '10', '9', 'u'];
      for (const userId of ids) await project.save(memory({ userId }));
      for (const limit of [1, 3, 7, 8]) {
        const pages = await walk((after) => project.users({ after, limit }));
        expect(pages.flat().map(({ userId }) => userId)).toEqual([...ids].sort());
        expect(pages).toHaveLength(Math.ceil(ids.length / limit));
      }
    });

    test('have the time of the newest memory', async () => {
      await project.save(memory(), { at: 5_000 });
      await project.save(memory(), { at: 1_000 });
      const bytes = 2 * ('hello'.length + '{}'.length);
      const user = { userId: 'u', memories: 2, bytes, lastCreatedAt: 5_000 };
      expect((await project.users()).items).toEqual([user]);
    });
  });

  describe(`${name}: statuses`, () => {
    let project: Project;
    withStorage(open, (_, own) => {
      project = own;
    });

    test('of many memories are in the requested order, and missing memories are omitted', async () => {
      const ids: string[] = [];
      for (let n = 0; n < 5; n += 1) {
        const given = memory();
        await project.save(given);
        ids.push(given.id);
      }
      const [a = '', b = '', c = '', d = ''] = ids;
      const statuses = await project.statuses([c, 'mem_none', a, d, b]);
      expect(statuses.map(({ memoryId }) => memoryId)).toEqual([c, a, d, b]);
      expect(statuses[0]).toEqual((await project.status(c)) ?? expect.anything());
      expect(await project.statuses([])).toEqual([]);
    });

    test('of a saved memory count the chunks of its text', async () => {
      const given = memory({ content: 'x'.repeat(2_500) });
      await project.save(given, { at: 7 });
      expect(await project.status(given.id)).toEqual({
        memoryId: given.id,
        status: 'complete',
        chunksComplete: 3,
        chunksTotal: 3,
        attempts: 0,
        errorMessage: null,
        createdAt: 7,
        updatedAt: 7,
      });
    });

    test('of ids that contain NUL are omitted, and other operations find no such memory', async () => {
      const given = memory();
      await project.save(given);
      const id = 'mem_\0';
      expect(await project.statuses([id, given.id])).toMatchObject([{ memoryId: given.id }]);
      expect(await project.get(id)).toBeNull();
      expect(await project.status(id)).toBeNull();
      const update = project.update(id, { content: 'x' });
      expect(await rejectionOf(update)).toMatchObject({ code: 'not_found' });
    });
  });
}
