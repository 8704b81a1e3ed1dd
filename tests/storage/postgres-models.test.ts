import { expect, test } from 'bun:test';
import { openTransaction, query } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { useModel } from './embedded.ts';
import { memory, newProject } from './fixtures.ts';
import { openInSchema } from './postgres.ts';

test('while another server changes the model, no work with the former one is stored', async () => {
  await using opened = await openInSchema();
  const { storage, url } = opened;
  const project = await newProject(opened);
  const modelId = await useModel(opened);
  // A change of the model does not see a user who is created meanwhile.
  const change = await openTransaction(url, 'UPDATE models SET is_present = 0');
  await project.save(memory());
  const user = { projectId: project.id, userId: 'u', modelId };
  const { from, upTo } = await storage.memoriesToEmbed({ ...user, limit: 1 });
  const stored = storage.storeVectors({ ...user, from, upTo, vectors: [] });
  const isWaiting = async () => {
    const text = `SELECT 1 FROM pg_stat_activity AS a WHERE wait_event_type = 'Lock'
      AND EXISTS (SELECT 1 FROM pg_locks AS l WHERE l.pid = a.pid
        AND l.relation = to_regclass('models'))`;
    return (await query(url, text)).length > 0;
  };
  await Promise.race([stored, until(isWaiting, { what: 'a lock' })]);
  await change();
  expect(await stored).toBe(false);
});
