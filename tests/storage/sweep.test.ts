import { expect, test } from 'bun:test';
import { rowsOf } from '../support/rows.ts';
import { databases } from './databases.ts';
import { imported, newProject } from './fixtures.ts';

test.each(databases)(
  '%s: indexes that are too large are not stored before a search',
  async (_, open) => {
    const opened = await open();
    const project = await newProject(opened);
    await project.import(Array.from({ length: 200 }, () => imported({ userId: 'ada' })));
    const next = () => opened.storage.nextUnstored({ after: null });
    expect(await next()).toEqual({ projectId: project.id, userId: 'ada' });
    await rowsOf(opened.url, 'UPDATE users SET memories = 250000');
    expect(await next()).toBeNull();
    await rowsOf(opened.url, 'UPDATE users SET memories = 200, bytes = 9000000');
    expect(await next()).toBeNull();
    await opened.dispose();
  },
);
