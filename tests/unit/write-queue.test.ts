import { expect, test } from 'bun:test';
import { createWriteQueue } from '../../server/storage/sqlite/write-queue.ts';
import { until } from '../support/until.ts';

const rows = 1_000;

/** A queue whose writes complete when `finish` is called with their name. */
function open() {
  const sent: string[] = [];
  const finishers = new Map<string, () => void>();
  const queue = createWriteQueue(({ operation }) => {
    sent.push(operation);
    const written = Promise.withResolvers<{ value: unknown; texts: string[] }>();
    finishers.set(operation, () => written.resolve({ value: null, texts: [] }));
    return written.promise;
  });
  const write = (operation: string, projectId: number, cost = 1) => {
    void queue.add({ projectId, operation, argument: null, cost });
  };
  const finish = async (operation: string) => {
    finishers.get(operation)?.();
    for (let n = 0; n < 10; n += 1) await Promise.resolve();
  };
  return { sent, write, finish, drain: () => queue.drain() };
}

test("a large write waits for the previous one, but its project's small writes do not", () => {
  const { sent, write } = open();
  write('large 1', 1, rows);
  write('large 2', 1, rows);
  write('small', 1);
  expect(sent).toEqual(['large 1', 'small']);
});

test('large writes follow each other without a pause if no other project is active', async () => {
  const { sent, write, finish } = open();
  write('large 1', 1, rows);
  write('small', 1);
  write('large 2', 1, rows);
  await finish('large 1');
  expect(sent).toEqual(['large 1', 'small', 'large 2']);
});

test('large writes pause while another project sends small writes', async () => {
  const { sent, write, finish } = open();
  write('large 1', 1, rows);
  write('large 2', 1, rows);
  write('small 2', 2);
  const begun = performance.now();
  await Bun.sleep(20);
  await finish('large 1');
  write('small 1', 1);
  expect(sent).toEqual(['large 1', 'small 2', 'small 1']);
  await until(() => sent.includes('large 2'));
  expect(performance.now() - begun).toBeGreaterThan(75);
});

test('draining sends the waiting large writes without a pause and waits for them', async () => {
  const { sent, write, finish, drain } = open();
  write('large 1', 1, rows);
  write('large 2', 1, rows);
  write('small', 2);
  await finish('small');
  await finish('large 1');
  expect(sent).toEqual(['large 1', 'small']);
  let isDrained = false;
  const drained = drain().then(() => {
    isDrained = true;
  });
  expect(sent).toEqual(['large 1', 'small', 'large 2']);
  await finish('none');
  expect(isDrained).toBe(false);
  await finish('large 2');
  await drained;
});
