import { Database } from 'bun:sqlite';
import { until } from '../support/until.ts';
import { newProject } from './fixtures.ts';
import { type OpenedFile, openInFolder } from './sqlite.ts';

/**
 * Opens a separate storage for each test. The tests run concurrently, because a scrub starts a
 * second after the erasure.
 */
export async function open() {
  const opened = await openInFolder();
  return { ...(await newProject(opened)), opened, [Symbol.asyncDispose]: () => opened.dispose() };
}

export function isScrubPending({ path }: OpenedFile): boolean {
  const db = new Database(path, { readonly: true });
  try {
    return db.prepare(`SELECT 1 FROM maintenance WHERE name = 'scrub'`).get() !== null;
  } finally {
    db.close(true);
  }
}

export const scrubbed = (opened: OpenedFile) =>
  until(() => !isScrubPending(opened), { what: 'the scrub', timeoutMs: 25_000 });
