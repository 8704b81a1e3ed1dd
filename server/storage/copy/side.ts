import type { Value } from '../engine.ts';

export type Row = Record<string, Value>;

/** Parameters are `$1`, `$2` and so on. */
export type Statement = { text: string; values: readonly Value[] };

/** One of the two databases of a copy. No server may have it open. */
export type CopySide = {
  readonly kind: 'sqlite' | 'postgres';
  read(text: string, values?: readonly Value[]): Promise<Row[]>;
  /** Runs the statements in order in one transaction. */
  write(...statements: readonly Statement[]): Promise<void>;
  isUnfinished(): Promise<boolean>;
  /** Throws an Error with advice if a server has opened the database. */
  assertUnused(): Promise<void>;
  close(): void;
};

/** The table that stores the progress of a copy. It exists until the copy is finished. */
export const progressTable = 'copy_progress';

export function unfinishedCopy(name: string): Error {
  return new Error(
    `${name} is an unfinished copy of another database. Run the same "memory migrate" command ` +
      'again to continue the copy.',
  );
}
