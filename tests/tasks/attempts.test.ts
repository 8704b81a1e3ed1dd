import { expect, test } from 'bun:test';
import { createLogger } from '../../server/log.ts';
import { readSeries } from '../../server/metrics/counts.ts';
import { startWorker } from '../../server/tasks/worker.ts';
import { record } from '../storage/fixtures.ts';
import { openInFolder } from '../storage/sqlite.ts';
import { opened, project, withStorage } from '../storage/suite.ts';
import { until } from '../support/until.ts';

withStorage(openInFolder);

/** The counted attempts of all workers of this process: complete, retried and failed. */
function attempts(): number[] {
  return readSeries('memory_task_attempts_total').map(({ counts: [value = 0] }) => value);
}

test('the worker counts its attempts by their outcome', async () => {
  const before = attempts();
  const [poison = '', sound = ''] = await project.accept(
    [record({ content: 'poison' }), record({ content: 'sound' })],
    { at: Date.now() },
  );
  const worker = startWorker({
    storage: opened.storage,
    handlers: {
      index: async ({ task }) => {
        if (task.memoryId === poison) throw new Error('cannot be split');
        return { chunks: 1 };
      },
    },
    owner: 'worker',
    now: Date.now,
    log: createLogger('silent', () => {}),
    progress() {},
    random: () => 0,
  });
  await until(async () => {
    const statuses = await project.statuses([poison, sound]);
    return statuses.map(({ status }) => status).join() === 'failed,complete';
  });
  await worker.stop();
  expect(attempts().map((count, at) => count - (before[at] ?? 0))).toEqual([1, 4, 1]);
});
