import { expect, test } from 'bun:test';
import { rowsOf } from '../support/rows.ts';
import { until } from '../support/until.ts';
import { databases } from './databases.ts';
import { embed, useModel } from './embedded.ts';
import { imported, newProject } from './fixtures.ts';

const userId = 'ada';
const perPart = 500;
const expiresAt = 5_000;

test.each(databases)('%s: memories that expire together drop only their parts', async (_, open) => {
  const opened = await open();
  const project = await newProject(opened);
  const modelId = await useModel(opened);
  for (let part = 0; part < 3; part += 1) {
    const expiring = imported({ userId, expiresAt: part === 1 ? null : expiresAt });
    const others = Array.from({ length: perPart - 1 }, () => imported({ userId }));
    await project.import([expiring, ...others]);
  }
  await embed(opened, { projectId: project.id, userId, modelId });
  await opened.storage.storeSnapshotOf({ owner: { projectId: project.id, userId } });
  const stored = () => rowsOf(opened.url, 'SELECT last_change FROM vector_parts ORDER BY 1');
  await until(async () => (await stored()).length === 3, { what: 'the parts' });
  const [, middle] = await stored();
  await opened.storage.maintain({ now: expiresAt, elapsedMs: 0 });
  expect(await stored()).toEqual([middle ?? {}]);
  await opened.dispose();
});
