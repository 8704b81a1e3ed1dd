import type { Database } from 'bun:sqlite';
import { isDamage } from './errors.ts';

/** How many faults are named; one is enough to refuse a file. */
const maxFaults = 5;

/** What SQLite finds wrong with the structure of the file; empty where it is sound. Changed text
 * inside a row cannot be seen. */
export function structuralFaults(db: Database): string[] {
  return faultsBy(db, 'integrity_check');
}

/** Does not compare indexes with tables: about a second for each gigabyte in the page cache. */
export function coarseFaults(db: Database): string[] {
  return faultsBy(db, 'quick_check');
}

function faultsBy(db: Database, check: 'integrity_check' | 'quick_check'): string[] {
  try {
    const rows = db.prepare<unknown, []>(`PRAGMA ${check}(${maxFaults})`).values();
    return rows.map(([line]) => String(line)).filter((line) => line !== 'ok');
  } catch (error) {
    // A file out of reach for the moment is not one to be replaced by an old backup.
    if (!isDamage(error)) throw error;
    return [error.message];
  }
}

export function damaged(path: string, faults: string[]): Error {
  return new Error(
    `${path} is damaged and is not served:\n  ${faults.join('\n  ')}\n` +
      'Restore the last backup with "memory restore <backup>"; it keeps this file beside it.',
  );
}
