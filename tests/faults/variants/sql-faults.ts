import type { Statement } from 'bun:sqlite';
import type { Hook } from './statements.ts';

/** What fails reports success. */
export function swallowErrors(match: RegExp): Hook[] {
  return [{ match, replace: (statement) => ({ run: () => attempt(statement, () => {}) }) }];
}

/** Queries that find no row, whatever there is. */
export function findsNothing(match: RegExp): Hook[] {
  return [{ match, replace: () => ({ get: () => null, all: () => [], values: () => [] }) }];
}

/** Errors lose what SQLite says of them, but for a full disk. */
export const maskErrors: Hook[] = [
  {
    match: /./s,
    replace: (statement) => ({
      run: (...values: never[]) => attempt(statement, mask, values),
    }),
  },
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
