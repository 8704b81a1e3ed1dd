import { expect } from 'bun:test';
import type { Storage } from '../../server/storage/storage.ts';
import { rejectionOf } from '../support/thrown.ts';
import { until } from '../support/until.ts';
import { memory, type Project } from './fixtures.ts';

/** Waits until the storage reports no fault. */
export function healthy(storage: Storage): Promise<boolean> {
  return until(async () => (await storage.health()).fault === null, { what: 'no fault' });
}

/** Expects that the storage reports the fault, and that no write is tried, until it is undone. */
export async function expectFault(
  { storage, project }: { storage: Storage; project: Project },
  fault: string,
  undo: () => unknown,
): Promise<void> {
  await until(async () => (await storage.health()).fault === fault, { what: fault });
  const error = await rejectionOf(project.save(memory()));
  expect(error).toMatchObject({ code: 'unavailable', message: `${fault}; nothing was stored` });
  await undo();
  await healthy(storage);
  await project.save(memory());
}
