import { expect, test } from 'bun:test';
import { SQL } from 'bun';
import { readSeries } from '../../server/metrics/counts.ts';
import type { Connection, Session } from '../../server/storage/postgres/connection.ts';
import { ConnectionLost } from '../../server/storage/postgres/errors.ts';
import type { Work } from '../../server/storage/postgres/transaction.ts';
import { createWriteQueue } from '../../server/storage/postgres/write-queue.ts';
import { rejectionOf } from '../support/thrown.ts';
import { until } from '../support/until.ts';

/* The queue of writes, on simulated connections. */

const lost = async () => {
  throw new ConnectionLost('the server refuses connections');
};
const common = { silentMs: () => 0, close() {} };
const closed: Connection = { ...common, session: lost, run: lost, isOpen: () => false };

/** A connection on which every statement succeeds. `answer` returns the command that has run. */
function openWith(answer: (command: string) => string): Connection {
  const run: Connection['run'] = async (statements) => statements.map(() => []);
  const settle: Session['settle'] = async (statements) =>
    statements.map(({ text }) => {
      return { rows: [], command: answer(text.split(' ')[0] ?? ''), count: 1 };
    });
  const session = async () => ({ hasCitus: false, settle, run, end() {} });
  return { ...common, session, run, isOpen: () => true };
}
const open = openWith((command) => command);

/** A connection, and the commands that begin and end its transactions. */
function recordingConnection() {
  const commands: string[] = [];
  const connection = openWith((command) => {
    if (/^(BEGIN|COMMIT|ROLLBACK)$/.test(command)) commands.push(command);
    return command;
  });
  return { connection, commands };
}

function queueOn(...connections: Connection[]) {
  return createWriteQueue({ connections, fault: () => null, note() {} });
}

/** A write whose users are not known, so that it runs alone. */
const alone = { projectId: 1, cost: 1, key: null, users: null };
const quick = { ...alone, work: async () => 'stored' };

/** A write that succeeds once `ended` has resolved. */
const writeAfter = (ended: Promise<void>) => ({ ...alone, work: () => ended.then(() => 'stored') });

test('a write is rejected soon if no connection can be opened', async () => {
  const begun = performance.now();
  const write = queueOn(closed, closed).run(quick);
  expect(await rejectionOf(write)).toMatchObject({ code: 'unavailable' });
  // A write that kept looking for an open connection would be rejected only after five seconds.
  expect(performance.now() - begun).toBeLessThan(4_000);
});

test.each<[what: string, connections: Connection[], users: string[] | null]>([
  ['a write', [open, closed, closed], null],
  ['saves', [open, closed], ['one', 'two']],
])('%s whose connection cannot be opened moves to an open one', async (_, connections, users) => {
  const queue = queueOn(...connections);
  const first = Promise.withResolvers<void>();
  const stored = queue.run(writeAfter(first.promise));
  const moved = (users ?? [null]).map((user) =>
    queue.run({ ...quick, users: user === null ? null : [user] }),
  );
  first.resolve();
  expect(new Set(await Promise.all([stored, ...moved]))).toEqual(new Set(['stored']));
});

test.each([2, 3])('one of %i connections is left for other projects', async (count) => {
  const queue = queueOn(...Array.from({ length: count }, () => open));
  const ended = Promise.withResolvers<void>();
  let begun = 0;
  const work = async () => {
    begun += 1;
    await ended.promise;
    return 'stored';
  };
  const begin = () => queue.run({ ...alone, work });
  const waiting = Array.from({ length: count - 2 }, begin);
  // The end of a write must not free the connections of the writes that still run.
  await queue.run(quick);
  waiting.push(begin(), begin());
  await until(() => begun >= count - 1, { what: 'the writes of the project' });
  const other = { ...quick, projectId: 2 };
  expect(await queue.run(other)).toBe('stored');
  ended.resolve();
  expect(await Promise.all(waiting)).toEqual(Array(count).fill('stored'));
});

test('writes with the same key run one after the other, and other writes of the user together', async () => {
  const queue = queueOn(open, open, open);
  let running = 0;
  let most = 0;
  const work: Work = async (tx) => {
    running += 1;
    most = Math.max(most, running);
    await tx.run('SELECT 1');
    running -= 1;
  };
  const write = (key: string | null, users: string[] | null = ['a user']) =>
    queue.run({ ...alone, key, users, work });
  await Promise.all(Array.from({ length: 3 }, () => write('a key')));
  await Promise.all(Array.from({ length: 3 }, () => write('a key', null)));
  expect(most).toBe(1);
  await Promise.all(Array.from({ length: 3 }, () => write(null)));
  expect(most).toBe(3);
});

test('a write that fails after it has changed rows is rolled back, and not those beside it', async () => {
  const { connection, commands } = recordingConnection();
  const queue = queueOn(connection);
  const insertAnd = (user: string, end: () => Promise<string>) => {
    const work: Work = (tx) => tx.run('INSERT INTO changed VALUES (1)').then(end);
    return queue.run({ ...alone, users: [user], work });
  };
  const failing = insertAnd('one', () => Promise.reject(new Error('rejected')));
  const other = insertAnd('two', async () => 'stored');
  const [error, stored] = await Promise.all([rejectionOf(failing), other]);
  expect([error.message, stored]).toEqual(['rejected', 'stored']);
  // Together, and then each alone.
  expect(commands.join(' ')).toBe('BEGIN ROLLBACK BEGIN ROLLBACK BEGIN COMMIT');
});

test('drain() rejects new writes and waits for the writes that still run', async () => {
  const queue = queueOn(open, open);
  await queue.run(quick);
  // After this pause, all connections are idle again.
  await Bun.sleep(5);
  const ended = Promise.withResolvers<void>();
  const stored = queue.run(writeAfter(ended.promise));
  const drained = queue.drain().then(() => 'drained');
  const message = 'the service is shutting down; nothing was stored';
  expect(await rejectionOf(queue.run(quick))).toMatchObject({ code: 'unavailable', message });
  expect(await Promise.race([drained, Bun.sleep(20)])).toBeUndefined();
  ended.resolve();
  expect(await stored).toBe('stored');
  expect(await drained).toBe('drained');
});

test('a locked write is retried even if other writes keep arriving', async () => {
  const queue = queueOn(open);
  const details = { code: 'ERR_POSTGRES_SERVER_ERROR', errno: '55P03' };
  let attempts = 0;
  const work = async () => {
    attempts += 1;
    if (attempts === 1) throw new SQL.PostgresError('lock timeout', details);
    return 'stored';
  };
  let hasEnded = false;
  const locked = queue.run({ ...alone, work }).finally(() => {
    hasEnded = true;
  });
  let otherWrites = 0;
  while (!hasEnded && otherWrites < 100) {
    await queue.run({ ...quick, projectId: 2 });
    otherWrites += 1;
  }
  expect(otherWrites).toBeLessThan(100);
  expect(await locked).toBe('stored');
});

test('writes share a transaction up to a number of rows, and each is counted', async () => {
  const { connection, commands } = recordingConnection();
  const queue = queueOn(connection);
  const counted = () => readSeries('memory_commit_writes')[0]?.counts.at(-1) ?? 0;
  const before = counted();
  const save = (user: string) => {
    const work: Work = (tx) => tx.run('INSERT INTO changed VALUES (1)');
    return queue.run({ ...alone, users: [user], cost: 60, work });
  };
  await Promise.all(['one', 'two', 'three'].map(save));
  expect(commands.join(' ')).toBe('BEGIN COMMIT BEGIN COMMIT');
  expect(counted() - before).toBe(3);
});

test('a write whose COMMIT has rolled back has an unknown outcome', async () => {
  const queue = queueOn(openWith((command) => (command === 'COMMIT' ? 'ROLLBACK' : command)));
  const work: Work = (tx) => tx.run('INSERT INTO changed VALUES (1)');
  const error = await rejectionOf(queue.run({ ...alone, work }));
  expect(error).toMatchObject({ code: 'internal' });
  expect(error.message).toContain('the outcome is unknown');
});
