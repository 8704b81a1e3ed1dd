import { expect, test } from 'bun:test';
import type { Connection } from '../../server/storage/postgres/connection.ts';
import { ConnectionLost } from '../../server/storage/postgres/errors.ts';
import { createWriteQueue } from '../../server/storage/postgres/writer/write-queue.ts';
import { rejectionOf } from '../support/thrown.ts';

/* Writes on connections that cannot be opened. */

const lost = async () => {
  throw new ConnectionLost('the server refuses connections');
};
const common = { silentMs: () => 0, close() {} };
const closed: Connection = { ...common, session: lost, run: lost, isOpen: () => false };

/** A connection on which every statement succeeds. */
const open: Connection = {
  ...common,
  session: async () => ({
    settle: async (statements) =>
      statements.map(({ text }) => ({ rows: [], command: text.split(' ')[0] ?? '' })),
    run: async (statements) => statements.map(() => []),
    end() {},
  }),
  run: async (statements) => statements.map(() => []),
  isOpen: () => true,
};

function queueOn(...connections: Connection[]) {
  const health = { uptime: () => 0, fault: () => null, note() {} };
  return createWriteQueue({ connections, isDistributed: false, ...health });
}

/** A write that succeeds once `ended` has resolved. */
function writeAfter(ended: Promise<void>) {
  const work = async () => {
    await ended;
    return { last: [], result: 'stored' };
  };
  return { projectId: 1, work };
}

test('a write is rejected soon if no connection can be opened', async () => {
  const begun = performance.now();
  const write = queueOn(closed, closed).run(writeAfter(Promise.resolve()));
  expect(await rejectionOf(write)).toMatchObject({ code: 'unavailable' });
  // A write that kept looking for an open connection would be rejected only after five seconds.
  expect(performance.now() - begun).toBeLessThan(4_000);
});

test('a write whose connection cannot be opened moves to an open connection', async () => {
  const queue = queueOn(open, closed, closed);
  const first = Promise.withResolvers<void>();
  const stored = queue.run(writeAfter(first.promise));
  const moved = queue.run(writeAfter(Promise.resolve()));
  first.resolve();
  expect(await Promise.all([stored, moved])).toEqual(['stored', 'stored']);
});
