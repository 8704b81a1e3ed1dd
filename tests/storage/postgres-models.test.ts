import { expect, test } from 'bun:test';
import { areWaiting, openTransaction } from '../support/postgres.ts';
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
  await Promise.race([stored, until(() => areWaiting(url, 'models'), { what: 'a lock' })]);
  await change();
  expect(await stored).toBe(false);
});
