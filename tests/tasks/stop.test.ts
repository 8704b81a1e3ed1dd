import { expect, test } from 'bun:test';
import { createLogger } from '../../server/log.ts';
import { indexMemory } from '../../server/tasks/handlers.ts';
import { startWorker } from '../../server/tasks/worker.ts';
import { newProject, record } from '../storage/fixtures.ts';
import { openInFolder } from '../storage/sqlite.ts';

test('the result of a task that is running when stop() is called is stored before the worker stops', async () => {
  await using opened = await openInFolder();
  const project = await newProject(opened);
  const log = createLogger('silent', () => {});
  for (let round = 0; round < 10; round += 1) {
    const [id = ''] = await project.accept([record()], { at: Date.now() });
    const worked = Promise.withResolvers<void>();
    const worker = startWorker({
      storage: opened.storage,
      handlers: {
        index: async (work) => {
          const result = await indexMemory(work);
          worked.resolve();
          return result;
        },
      },
      owner: `worker ${round}`,
      now: Date.now,
      log,
      progress() {},
    });
    await worked.promise;
    await worker.stop();
    expect(await project.status(id)).toMatchObject({ status: 'complete', attempts: 1 });
  }
});
