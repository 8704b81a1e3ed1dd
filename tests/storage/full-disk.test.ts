import { expect, test } from 'bun:test';
import { rejectionOf } from '../support/thrown.ts';
import { memory, newProject } from './fixtures.ts';
import { openInFolder } from './sqlite.ts';

/* A disk that becomes full during a commit of several writes. */

test('a write that fills the disk is rejected as unavailable if it shares a commit', async () => {
  await using opened = await openInFolder({ preload: ['small-disk.ts'] });
  const project = await newProject(opened);
  const small = project.save(memory()).then(
    () => 1,
    () => 0,
  );
  const error = await rejectionOf(project.save(memory({ content: 'x'.repeat(1_000_000) })));
  expect(error).toMatchObject({ code: 'unavailable' });
  expect(error.message).toBe('the disk is full; nothing was stored');
  expect(await project.list()).toHaveLength(await small);
});
