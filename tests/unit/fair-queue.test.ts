import { expect, test } from 'bun:test';
import { FairQueue } from '../../server/threads/fair-queue.ts';

function filled(...items: [owner: number, item: string][]): FairQueue<string> {
  const queue = new FairQueue<string>();
  for (const [owner, item] of items) queue.push(owner, item);
  return queue;
}

function drain(queue: FairQueue<string>, admits?: (owner: number) => boolean): string[] {
  const items: string[] = [];
  for (let item = queue.dequeue(admits); item !== undefined; item = queue.dequeue(admits)) {
    items.push(item);
  }
  return items;
}

test('owners take turns, and the items of each leave in arrival order', () => {
  const queue = filled([1, 'a'], [1, 'b'], [1, 'c'], [2, 'x'], [3, 'y'], [2, 'z']);
  expect(drain(queue)).toEqual(['a', 'x', 'y', 'b', 'z', 'c']);
});

test('an item takes as many turns of its owner as it costs', () => {
  const queue = new FairQueue<string>();
  for (const item of ['batch 1', 'batch 2']) queue.push(1, item, 3);
  expect(queue.dequeue()).toBe('batch 1');
  for (const item of ['a', 'b', 'c', 'd']) queue.push(2, item);
  expect(drain(queue)).toEqual(['a', 'b', 'c', 'batch 2', 'd']);
});

test('an owner gets no credit for the time since its last item', () => {
  const queue = new FairQueue<string>();
  queue.push(1, 'x');
  queue.push(2, 'a', 9);
  for (const item of ['b', 'c', 'd']) queue.push(2, item);
  expect([queue.dequeue(), queue.dequeue(), queue.dequeue()]).toEqual(['x', 'a', 'b']);
  for (const item of ['y', 'z', 'w']) queue.push(1, item);
  expect(drain(queue)).toEqual(['y', 'z', 'c', 'w', 'd']);
});

test('an owner that is not admitted keeps its turn and does not block others', () => {
  const queue = filled([1, 'a'], [2, 'x'], [2, 'y']);
  expect(drain(queue, (owner) => owner !== 1)).toEqual(['x', 'y']);
  expect(queue.countOf(1)).toBe(1);
  expect(drain(queue)).toEqual(['a']);
});

test('clear() removes all waiting items', () => {
  const queue = filled([1, 'a'], [2, 'x'], [1, 'b']);
  expect(queue.clear().sort()).toEqual(['a', 'b', 'x']);
  expect([queue.countOf(1), queue.dequeue()]).toEqual([0, undefined]);
});
