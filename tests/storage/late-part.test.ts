import { expect, test } from 'bun:test';
import { existsSync, rmSync } from 'node:fs';
import { rowsOf } from '../support/rows.ts';
import { until } from '../support/until.ts';
import { embed, useModel } from './embedded.ts';
import { imported, newProject } from './fixtures.ts';
import { openInFolder } from './sqlite.ts';

test('a part is not stored with the vectors of a memory that was deleted in the meantime', async () => {
  const opened = await openInFolder({ preload: ['late-part.ts'] });
  const { storage, path } = opened;
  const modelId = await useModel(opened);
  const project = await newProject(opened);
  const memories = Array.from({ length: 250 }, () => imported({ content: 'lantern in the attic' }));
  await project.import(memories);
  await embed(opened, { projectId: project.id, userId: 'u', modelId });
  const held = `${path}.held`;
  await storage.storeSnapshotOf({ owner: { projectId: project.id, userId: 'u' } });
  await until(() => existsSync(held), { what: 'the part' });
  await project.remove(memories[7]?.id ?? '');
  rmSync(held);
  await until(() => existsSync(`${path}.sent`), { what: 'the message to the writer' });
  // The writer stores all that it has received before it closes the file.
  await storage.close();
  expect(await rowsOf(opened.url, 'SELECT memories FROM vector_parts')).toEqual([]);
  await opened.dispose();
});
