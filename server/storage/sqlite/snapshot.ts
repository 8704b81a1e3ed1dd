import type { Database } from 'bun:sqlite';

/** What reads see while a commit is on its way to the disk: the state before it. */
export type Snapshot = {
  hold(): void;
  release(): void;
};

export function createSnapshot(reads: Database): Snapshot {
  const begin = reads.prepare('BEGIN');
  // A transaction sees what is there at its first read.
  const look = reads.prepare('SELECT 1 FROM projects LIMIT 1');
  const end = reads.prepare('END');
  return {
    hold() {
      begin.run();
      look.get();
    },
    release() {
      if (reads.inTransaction) end.run();
    },
  };
}
