import { expect, test } from 'bun:test';
import { mapYielding, yieldToEventLoop } from '../../server/threads/event-loop.ts';

test('yieldToEventLoop() resumes its callers in order and one per turn', async () => {
  const events: string[] = [];
  const callers = ['a', 'b', 'c'].map(async (name) => {
    await yieldToEventLoop();
    events.push(name);
    setImmediate(() => events.push(`turn after ${name}`));
  });
  await Promise.all(callers);
  expect(events.filter((event) => event.length === 1)).toEqual(['a', 'b', 'c']);
  expect(events.indexOf('turn after a')).toBeWithin(1, events.indexOf('c'));
});

test('mapYielding() keeps the order of the results and lets timers fire between items', async () => {
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 0);
  const slow = (item: number, index: number) => {
    const end = performance.now() + 5;
    while (performance.now() < end);
    return item * 10 + index;
  };
  const lists = await Promise.all([mapYielding([1, 2, 3], slow), mapYielding([4, 5], slow)]);
  clearInterval(timer);
  expect(lists.flat()).toEqual([10, 21, 32, 40, 51]);
  expect(turns).toBeGreaterThan(0);
});
