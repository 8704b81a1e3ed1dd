import { expect, test } from 'bun:test';
import { createReadAhead } from '../../server/storage/postgres/reader/read-ahead.ts';
import type { StoredMemory } from '../../server/storage/storage.ts';
import type { Task } from '../../server/storage/task-storage.ts';

const taskOf = (projectId: number, memoryId: string) => ({ projectId, memoryId }) as Task;

test('the memories of the next tasks are read before they are requested, each once', async () => {
  const asked: string[] = [];
  const readAhead = createReadAhead(async ({ projectId, id }) => {
    asked.push(`${projectId} ${id}`);
    return { id: `${projectId} ${id}` } as unknown as StoredMemory;
  });
  const get = async (projectId: number, id: string) =>
    (await readAhead.getMemory({ projectId, id, now: 0 }))?.id;
  readAhead.expect([taskOf(1, 'a'), taskOf(1, 'b'), taskOf(2, 'a')]);
  expect(await get(1, 'a')).toBe('1 a');
  expect(asked).toEqual(['1 a', '1 b', '2 a']);
  expect(await get(1, 'b')).toBe('1 b');
  expect(await get(2, 'a')).toBe('2 a');
  expect(asked).toHaveLength(3);
  expect(await get(2, 'a')).toBe('2 a');
  expect(asked).toHaveLength(4);
});
