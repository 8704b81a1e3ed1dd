import type { Database } from 'bun:sqlite';
import { isDamage } from './errors.ts';

/** The maximum number of reported faults; a single one makes a file unusable. */
const maxFaults = 5;

/** Returns the structural faults that SQLite finds in the file; empty if there are none. Cannot
 * detect changed text inside a row. */
export function structuralFaults(db: Database): string[] {
  return faultsBy(db, 'integrity_check');
}

/** Does not compare indexes with tables. Takes about a second per gigabyte in the page cache. */
export function coarseFaults(db: Database): string[] {
  return faultsBy(db, 'quick_check');
}

function faultsBy(db: Database, check: 'integrity_check' | 'quick_check'): string[] {
  try {
    const rows = db.prepare<unknown, []>(`PRAGMA ${check}(${maxFaults})`).values();
    return rows.map(([line]) => String(line)).filter((line) => line !== 'ok');
  } catch (error) {
    // A temporarily unreadable file must not be reported as damaged: that would suggest a restore.
    if (!isDamage(error)) throw error;
    return [error.message];
  }
}

export function damaged(path: string, faults: string[]): Error {
  return new Error(
    `${path} is damaged and will not be served:\n  ${faults.join('\n  ')}\n` +
      'Restore the last backup with "memory restore <backup>"; it keeps the damaged file.',
  );
}
