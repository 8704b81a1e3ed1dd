import type { Statement } from 'bun:sqlite';
import type { Hook } from './statements.ts';

/** Makes matching statements report success even if they fail. */
export function swallowErrors(match: RegExp): Hook[] {
  return [{ match, replace: (statement) => ({ run: () => attempt(statement, () => {}) }) }];
}

/** Removes the SQLite error code from all errors except SQLITE_FULL. */
export const maskErrors: Hook[] = [
  {
    match: /./s,
    replace: (statement) => ({
      run: (...values: never[]) => attempt(statement, mask, values),
    }),
  },
];

/** Makes connections run with synchronous=NORMAL but report FULL. */
export const withoutSync: Hook[] = [
  {
    match: /^PRAGMA synchronous\s*=\s*(2|FULL)\b/i,
    replace: (_, db) => ({ run: () => db.run('PRAGMA synchronous = NORMAL') }),
  },
  { match: /^PRAGMA synchronous$/i, replace: () => ({ get: () => ({ synchronous: 2 }) }) },
];

function attempt(statement: Statement, onError: (error: unknown) => void, values: never[] = []) {
  try {
    return statement.run(...values);
  } catch (error) {
    onError(error);
    return { changes: 0, lastInsertRowid: 0 };
  }
}

function mask(error: unknown): never {
  if ((error as { code?: string }).code === 'SQLITE_FULL') throw error;
  throw new Error('something went wrong');
}
