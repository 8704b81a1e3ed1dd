import { Database } from 'bun:sqlite';
import { until } from '../support/until.ts';
import { newProject } from './fixtures.ts';
import { openInFolder } from './sqlite.ts';

/** Modules that let a test advance the writer thread's clock (advancing-clock.ts). */
export const advancingClock = { preload: ['advancing-clock.ts'] };

/**
 * Opens a separate storage for each test. The tests run concurrently, because a scrub starts after
 * a second without writes.
 */
export async function open(options: Parameters<typeof openInFolder>[0] = {}) {
  const opened = await openInFolder(options);
  const { path } = opened;
  const project = await newProject(opened);
  return { ...project, opened, path, [Symbol.asyncDispose]: () => opened.dispose() };
}

type File = { path: string };

/** Reads the file with a separate connection. */
function readValue({ path }: File, sql: string): unknown {
  const db = new Database(path, { readonly: true });
  try {
    return db.prepare(sql).values()[0]?.[0];
  } finally {
    db.close(true);
  }
}

export function isScrubPending(file: File): boolean {
  return readValue(file, `SELECT 1 FROM maintenance WHERE name = 'scrub'`) !== undefined;
}

/** Whether a rebuild has begun. It first removes the note that memories were deleted. */
export function isRebuildBegun(file: File): boolean {
  return readValue(file, `SELECT 1 FROM maintenance WHERE name = 'deleted'`) === undefined;
}

/** The number of unused pages, which a rebuild removes. */
export function unusedPages(file: File): number {
  return Number(readValue(file, 'PRAGMA freelist_count'));
}

/** Begins a read, which keeps a scrub from completing. Returns a function that ends the read. */
export function beginRead({ path }: File): () => void {
  const db = new Database(path, { readonly: true });
  db.run('BEGIN');
  const statement = db.prepare('SELECT count(*) FROM memories');
  statement.get();
  return () => {
    statement.finalize();
    db.close(true);
  };
}

/** A scrub begins only after a hundred times the duration of the previous one. */
const scrubbedWithinMs = 110_000;

export const scrubbed = (file: File) =>
  until(() => !isScrubPending(file), { what: 'the scrub', timeoutMs: scrubbedWithinMs });
