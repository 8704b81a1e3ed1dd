import { expect, test } from 'bun:test';
import { createTurns, type TurnLimits } from '../../server/mcp/turns.ts';

const usual: TurnLimits = {
  maxRunning: 3,
  maxProjectRunning: 2,
  maxWaitingBytes: 40_000,
  maxProjectWaitingBytes: 20_000,
  maxWaitMs: 1_000,
};

/** Creates turns. `started` lists the names of the calls in the order in which they started. */
function turnsOf(limits: Partial<TurnLimits> = {}) {
  let now = 0;
  const turns = createTurns({ ...usual, ...limits }, () => now);
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  function ask(name: string, projectId: number, bytes = 5_000, signal = open.signal) {
    const call = () => {
      started.push(name);
      return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
    };
    return turns.run({ projectId, bytes, signal }, call).catch(({ code }) => code);
  }
  async function end(...names: string[]): Promise<void> {
    for (const name of names) {
      await settle();
      ends.get(name)?.();
    }
    await settle();
  }
  const pass = (ms: number) => {
    now += ms;
  };
  return { ask, end, pass, started };
}

const open = new AbortController();
const settle = () => new Promise((resolve) => setImmediate(resolve));

test('a project runs a limited number of calls, and projects take turns', async () => {
  const { ask, end, started } = turnsOf();
  for (const name of ['a1', 'a2', 'a3', 'a4']) void ask(name, 1);
  for (const name of ['b1', 'b2']) void ask(name, 2);
  await end();
  expect(started).toEqual(['a1', 'a2', 'b1']);
  await end('a1', 'a2', 'b1');
  expect(started).toEqual(['a1', 'a2', 'b1', 'a3', 'b2', 'a4']);
});

test('a call that fails ends its turn', async () => {
  const turns = createTurns({ ...usual, maxRunning: 1 }, () => 0);
  const turn = { projectId: 1, bytes: 1, signal: open.signal };
  const failure = turns.run(turn, () => Promise.reject(new Error('failed')));
  await expect(failure).rejects.toThrow('failed');
  expect(await turns.run(turn, async () => 'next')).toBe('next');
});

test('waiting messages are limited in bytes, for each project and in total', async () => {
  const { ask } = turnsOf({ maxRunning: 0 });
  for (const bytes of [9_000, 9_000]) void ask('a', 1, bytes);
  expect(await ask('a', 1, 3_000)).toBe('unavailable');
  for (const bytes of [9_000, 9_000]) void ask('b', 2, bytes);
  // A message counts as at least 4 KiB.
  expect(await ask('c', 3, 1)).toBe('unavailable');
});

test('bytes are free again when a call starts', async () => {
  const { ask, end, started } = turnsOf({ maxRunning: 1 });
  void ask('a', 1, 20_000);
  void ask('b', 1, 20_000);
  expect(await ask('c', 1, 20_000)).toBe('unavailable');
  await end('a');
  void ask('d', 1, 20_000);
  await end('b');
  expect(started).toEqual(['a', 'b', 'd']);
});

test('a call that has waited too long, or whose client has gone, does not start', async () => {
  const { ask, end, pass, started } = turnsOf({ maxRunning: 1 });
  const gone = new AbortController();
  void ask('a', 1);
  const [late, left] = [ask('late', 1), ask('left', 2, 1, gone.signal)];
  gone.abort();
  pass(1_001);
  void ask('b', 1);
  await end('a');
  expect(await Promise.all([late, left])).toEqual(['unavailable', 'unavailable']);
  expect(started).toEqual(['a', 'b']);
});
