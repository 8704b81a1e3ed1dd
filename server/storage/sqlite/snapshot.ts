import type { Database } from 'bun:sqlite';

/** What reads see. While a commit is on its way to the disk, that is the state before it. */
export type Snapshot = {
  /** Said before COMMIT; once is enough. */
  hold(): void;
  /** Said when all that is committed is on the disk. */
  release(): void;
  /** Another number as soon as reads may see a change. */
  version(): number;
};

export function createSnapshot(reads: Database): Snapshot {
  const begin = reads.prepare('BEGIN');
  // A transaction sees what is there at its first read.
  const look = reads.prepare('SELECT 1 FROM projects LIMIT 1');
  const end = reads.prepare('END');
  // It moves with the commits of all other connections, and this one commits nothing.
  const find = reads.prepare<{ data_version: number }, []>('PRAGMA data_version');
  let known: number | null = null;

  function forget(): void {
    known = null;
  }

  /** Our own commits are heard of at once. Another process's are looked for in every turn of the
   * event loop: what is asked after them comes in a later one. */
  function lookUp(): number {
    const version = find.get()?.data_version ?? 0;
    known = version;
    setImmediate(forget);
    return version;
  }

  return {
    hold() {
      if (reads.inTransaction) return;
      begin.run();
      look.get();
    },
    release() {
      if (reads.inTransaction) end.run();
      forget();
    },
    version: () => known ?? lookUp(),
  };
}
