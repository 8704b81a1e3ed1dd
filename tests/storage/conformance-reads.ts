import { expect, test } from 'bun:test';
import type { Filter } from '../../server/storage/types/memories.ts';
import { rejectionOf } from '../support/thrown.ts';
import { imported, memory, newProject, record, walk } from './fixtures.ts';
import { many, opened, project } from './suite.ts';

const foreignPositions = [
  ...['', 'x', 'x mem_1', '1 x', '12 mem_1 ', '99999999999999999999 mem_1', '.', 'x.mem_1'],
];

/** Tests lists, filters and statuses. */
export function testLists(): void {
  test.each(foreignPositions)('and exports reject the position %j', async (after) => {
    const invalid = { code: 'invalid_request', details: [{ field: 'cursor' }] };
    expect(await rejectionOf(project.page('u', { after }))).toMatchObject(invalid);
    expect(await rejectionOf(project.exportPage({ after }))).toMatchObject(invalid);
  });

  test('return every memory that existed at the first page exactly once', async () => {
    const given = many(9);
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
    await project.accept([...large, record({ content: megabyte.repeat(13) })]);
    for (const filter of [{}, { type: 'document' } as const]) {
      const pages = await walk((after) => project.page('u', { limit: 100, after, filter }));
      expect(pages.length).toBeGreaterThan(1);
      expect(Math.min(...pages.map((page) => page.length))).toBeGreaterThan(0);
      expect(pages.flat()).toHaveLength(7);
    }
  });

  /** Contains both texts of the filter, but the value belongs to another key. */
  const seeming = '{"tag":"no","next":"yes"}';
  const ofTag = (value: string): Partial<Filter> => ({ metadata: [{ key: 'tag', value }] });

  test.each<[others: string, count: number, every: number, other: string, pages: number[]]>([
    ['thousands between two matches', 4_100, 2_050, '{"tag":"no"}', [2]],
    ['many', 5_000, 500, '{"tag":"no"}', [4, 4, 2]],
    ['many that only seem to match', 600, 100, seeming, [4, 2]],
  ])('with a filter skip other memories: %s', async (_, count, every, other, lengths) => {
    const isMatch = (n: number) => (n + 1) % every === 0;
    const given = Array.from({ length: count }, (_, createdAt) => {
      return imported({ createdAt, metadata: isMatch(createdAt) ? '{"tag":"yes"}' : other });
    });
    await project.import(given);
    const wanted = given.filter((_, n) => isMatch(n)).map(({ id }) => id);
    for (const order of ['asc', 'desc'] as const) {
      const walkTag = (value: string) => {
        const range = { filter: ofTag(value), order, limit: 4 };
        return walk((after) => project.page('u', { ...range, after }));
      };
      const pages = await walkTag('yes');
      expect(pages.map((page) => page.length)).toEqual(lengths);
      const ids = pages.flat().map(({ id }) => id);
      expect(ids).toEqual(order === 'asc' ? wanted : wanted.toReversed());
      expect(await walkTag('maybe')).toEqual([[]]);
    }
  });
}

export function testStatuses(): void {
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
}

const text = 'añ🌊語z';
/** Parts of `text`: the offset, the length and the expected content. */
const parts: [offset: number, length: number, content: string][] = [
  [0, 0, ''],
  [0, 3, 'añ🌊'],
  [2, 2, '🌊語'],
  [3, 100, '語z'],
  [5, 1, ''],
  [1_000_000, 1, ''],
];

/** Tests reads that return only a part of each memory's content. */
export function testParts(): void {
  test.each(parts)('begins at character %d and has up to %d', async (offset, length, content) => {
    const given = memory({ content: text, metadata: '{"a":1}' });
    await project.save(given);
    const range = { offset, length };
    const whole = await project.get(given.id);
    expect(await project.get(given.id, { range })).toEqual({
      ...(whole ?? given),
      content,
      contentLength: 5,
    } as never);
    const [found] = await project.list('u');
    expect(await project.list('u', { range })).toEqual([{ ...found, content } as never]);
    const filter = { type: 'memory' } as const;
    expect(await project.list('u', { range, filter })).toEqual([{ ...found, content } as never]);
    const [sought] = await project.search('z');
    expect(sought?.snippet).toBe(text);
    expect(await project.search('z', { range })).toEqual([{ ...sought, content } as never]);
  });

  test('is found only where the memory is', async () => {
    const range = { offset: 0, length: 1 };
    const given = memory({ expiresAt: 3_000 });
    await project.save(given);
    expect(await project.get(given.id, { range, onlyUserId: 'u' })).toMatchObject({
      content: 'h',
    });
    expect(await project.get(given.id, { range, onlyUserId: 'other' })).toBeNull();
    expect(await project.get(given.id, { range, now: 3_000 })).toBeNull();
    expect(await project.get('mem_none', { range })).toBeNull();
    const other = await newProject(opened);
    expect(await other.get(given.id, { range })).toBeNull();
    expect(await other.list('u', { range })).toEqual([]);
  });

  test('counts toward the size of a page instead of the whole content', async () => {
    const large = 'xy '.repeat(250_000);
    await project.accept(Array.from({ length: 8 }, () => record({ content: large })));
    const range = { offset: 0, length: 5 };
    const page = await project.page('u', { limit: 10, range });
    expect(page.items.map(({ content }) => content)).toEqual(Array(8).fill('xy xy'));
    expect(page.next).toBeNull();
  });
}
