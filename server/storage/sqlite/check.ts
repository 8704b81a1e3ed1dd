import type { Database } from 'bun:sqlite';
import { isDamage } from './errors.ts';

const maxFaults = 5;

/**
 * Returns the structural faults that SQLite finds. Changed text inside a row is not detected.
 * `quick_check` does not compare indexes with tables. It takes about a second per gigabyte if the
 * file is cached.
 */
export function structuralFaults(
  db: Database,
  check: 'integrity_check' | 'quick_check' = 'integrity_check',
): string[] {
  try {
    const rows = db.prepare<unknown, []>(`PRAGMA ${check}(${maxFaults})`).values();
    // SQLite puts a heading and the first fault in one row.
    const lines = rows.flatMap(([text]) => String(text).split('\n'));
    return lines.filter((line) => line !== 'ok' && !line.startsWith('***'));
  } catch (error) {
    // Do not report an unreadable file as damaged: the operator would then restore a backup.
    if (!isDamage(error)) throw error;
    return [error.message];
  }
}

export function damaged(path: string, faults: string[]): Error {
  return new Error(
    `${path} is damaged and will not be opened: ${faults.join('; ')}. ` +
      'Restore the last backup with "memory restore <backup>", which keeps the damaged file.',
  );
}
