import { afterEach, beforeEach, expect, spyOn, test } from 'bun:test';
import { createRestarts, type Restarts } from '../../server/threads/restarts.ts';

/*
 * When the service gives up on a thread that it has terminated. Each test fires the timers itself.
 */

const timers = new Map<unknown, () => void>();
let reasons: string[];
let restarts: Restarts;
let restore = () => {};

beforeEach(() => {
  const set = spyOn(globalThis, 'setTimeout').mockImplementation(((act: () => void) => {
    const timer = { unref() {} };
    timers.set(timer, act);
    return timer;
  }) as never);
  const clear = spyOn(globalThis, 'clearTimeout').mockImplementation(((timer: unknown) => {
    timers.delete(timer);
  }) as never);
  restore = () => {
    set.mockRestore();
    clear.mockRestore();
  };
  timers.clear();
  reasons = [];
  restarts = createRestarts((reason) => reasons.push(reason));
});
afterEach(() => restore());

function fireTimers(): void {
  for (const act of [...timers.values()]) act();
}

test('a terminated thread that does not exit in time ends the service', () => {
  restarts.expect('the thread does not respond');
  fireTimers();
  expect(reasons).toEqual(['the thread does not respond']);
});

test('a terminated thread that exits in time is restarted and does not end the service', () => {
  restarts.expect('the thread does not respond');
  expect(restarts.admit('the thread exited')).toBe(true);
  fireTimers();
  expect(reasons).toEqual([]);
});

test('after stop(), no thread ends the service or is restarted', () => {
  restarts.expect('the thread does not respond');
  restarts.stop();
  fireTimers();
  expect(restarts.admit('the thread exited')).toBe(false);
  expect(reasons).toEqual([]);
});
