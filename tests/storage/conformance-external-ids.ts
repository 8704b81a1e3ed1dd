import { expect, test } from 'bun:test';
import { limits } from '../../sdk/contract/limits.ts';
import { memory } from './fixtures.ts';
import { externalKey, project } from './suite.ts';

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

  test('creates one memory from twenty concurrent saves', async () => {
    const saves = Array.from({ length: 20 }, (_, n) => {
      return project.save(memory({ ...externalKey, content: `${n}` }));
    });
    const statuses = (await Promise.all(saves)).map(({ response }) => response.status).sort();
    expect(statuses).toEqual([...Array.from({ length: 19 }, () => 200), 201]);
    const [only, ...more] = await project.list();
    expect(only).toMatchObject({ version: 20 });
    expect(more).toEqual([]);
  });
}
