import { expect, test } from 'bun:test';
import { memory, newProject, record } from './fixtures.ts';
import { opened, project } from './suite.ts';

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
