import { afterAll, beforeEach, expect, test } from 'bun:test';
import { createMeasure } from '../../server/http/stats.ts';
import { unavailable } from '../../server/storage/refusals.ts';
import { imported, newProject, type Project } from '../storage/fixtures.ts';
import { openSqliteStorage } from '../storage/sqlite.ts';
import { rejectionOf } from '../support/thrown.ts';

let project: Project;
let measure: ReturnType<typeof createMeasure>;
let nowMs = 0;
let parts = 0;
let isFailing = false;

const opened = await openSqliteStorage();
afterAll(() => opened.dispose());
beforeEach(async () => {
  project = await newProject(opened);
  const storage = {
    async measureMemories(read: Parameters<typeof opened.storage.measureMemories>[0]) {
      parts += 1;
      if (isFailing) throw unavailable('the test says so');
      return opened.storage.measureMemories(read);
    },
  };
  measure = createMeasure(storage, () => nowMs);
});

const add = (count: number, userId = 'u') =>
  project.import(Array.from({ length: count }, () => imported({ userId })));
const counted = async (onlyUserId: string | null = null) => {
  const { memories } = await measure({ projectId: project.id, now: 2_000, onlyUserId });
  return memories;
};

test('a measurement of 1,000 memories is kept for a minute, and one of fewer is not', async () => {
  await add(998);
  expect(await counted()).toBe(998);
  await add(1);
  expect(await counted()).toBe(999);
  await add(1);
  expect(await counted()).toBe(1_000);
  await add(1);
  expect(await counted()).toBe(1_000);
  nowMs += 59_999;
  expect(await counted()).toBe(1_000);
  nowMs += 1;
  expect(await counted()).toBe(1_001);
});

test('a measurement is kept for its project and user alone', async () => {
  await add(1_000);
  await add(2, 'v');
  const read = { projectId: project.id, now: 2_000 };
  expect(await counted()).toBe(1_002);
  expect(await counted('u')).toBe(1_000);
  expect(await counted('v')).toBe(2);
  const other = await newProject(opened);
  expect((await measure({ ...read, projectId: other.id })).memories).toBe(0);
});

test('requests that arrive during a measurement share it', async () => {
  await add(1_000);
  parts = 0;
  await counted();
  const alone = parts;
  nowMs += 60_000;
  await Promise.all(Array.from({ length: 20 }, () => counted()));
  expect(parts - alone).toBeLessThan(alone * 10);
});

test('a measurement that failed is not kept', async () => {
  await add(1_000);
  isFailing = true;
  expect(await rejectionOf(counted())).toMatchObject({ code: 'unavailable' });
  isFailing = false;
  expect(await counted()).toBe(1_000);
});
