import type { Database } from 'bun:sqlite';
import { ServiceError } from '../../errors.ts';
import { isFull } from './faults.ts';

/** A full disk is noticed by a write, and so is that there is room again. */
export type FullDisk = {
  /** Of a write for which there was no room. */
  note(): void;
  isFull(): boolean;
  stop(): void;
};

/** While it is full, it is looked at this often. */
const probeMs = 1_000;

export function createFullDisk(
  db: Database,
  write: (effect: () => void) => Promise<void>,
): FullDisk {
  let full = false;
  let probing: ReturnType<typeof setTimeout> | undefined;

  function probeLater(): void {
    probing = setTimeout(async () => {
      try {
        await write(takeRoom);
        full = false;
      } catch (error) {
        full = error instanceof ServiceError && isFull(error.cause);
        if (full) probeLater();
      }
    }, probeMs);
    probing.unref();
  }

  /** In the log; it leaves nothing behind. */
  function takeRoom(): void {
    db.run(`INSERT INTO chores (name) VALUES ('probe')`);
    db.run(`DELETE FROM chores WHERE name = 'probe'`);
  }

  return {
    note() {
      if (!full) probeLater();
      full = true;
    },
    isFull: () => full,
    stop: () => clearTimeout(probing),
  };
}
