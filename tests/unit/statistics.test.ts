import { afterEach, expect, spyOn, test } from 'bun:test';
import { keepStatistics } from '../../server/storage/postgres/statistics.ts';

/* Tests when the PostgreSQL tables are checked. Each test fires the timer itself. */

let restore = () => {};
afterEach(() => restore());

/** Returns a function that fires the timer once. `check` replaces the query for grown tables. */
function start(check: () => Promise<[]>): () => Promise<void> {
  let turn = async () => {};
  const timer = spyOn(globalThis, 'setInterval').mockImplementation(((act: typeof turn) => {
    turn = act;
  }) as never);
  restore = () => timer.mockRestore();
  const connection = { run: check } as never;
  keepStatistics('postgres://127.0.0.1:1/none', connection);
  return () => turn();
}

test('a check does not begin while another one runs', async () => {
  let checks = 0;
  const running = Promise.withResolvers<[]>();
  const turn = start(() => {
    checks += 1;
    return running.promise;
  });
  const first = turn();
  await turn();
  expect(checks).toBe(1);
  running.resolve([]);
  await first;
  await turn();
  expect(checks).toBe(2);
});

test('no table is checked for a while after an error', async () => {
  let checks = 0;
  const turn = start(async () => {
    checks += 1;
    throw new Error('the database cannot be reached');
  });
  for (let n = 0; n < 3; n += 1) await turn();
  expect(checks).toBe(1);
});
