import type { Database } from 'bun:sqlite';
import { faultOf } from '../errors.ts';
import type { FileCheck } from '../file-identity.ts';

/** How often to check the file and, after a fault, to make a test write. */
const probeEveryMs = 500;

export type WriteHealth = ReturnType<typeof createWriteHealth>;

/**
 * Tracks whether writes can succeed, based on failed writes and checks of the file. `changed` is
 * called when the fault changes.
 */
export function createWriteHealth(options: {
  db: Database;
  fileCheck: FileCheck;
  changed(fault: string | null): void;
}) {
  const { db, fileCheck, changed } = options;
  let diskFault: string | null = null;
  let fileFault: string | null = null;
  let known: string | null = null;

  function publish(): string | null {
    const fault = fileFault ?? diskFault;
    if (fault !== known) changed(fault);
    known = fault;
    return fault;
  }

  function check(): string | null {
    fileFault = fileCheck();
    return publish();
  }

  function probe(): void {
    if (check() !== diskFault || diskFault === null) return;
    try {
      writeAndUndo(db);
      diskFault = null;
    } catch (error) {
      diskFault = faultOf(error) ?? diskFault;
    }
    publish();
  }

  const timer = setInterval(probe, probeEveryMs);
  return {
    /** Returns why writes fail, or null. Checks the file on every call. */
    check,
    /** Records the error of a write; ignores errors that the database did not cause. */
    note(error: unknown): void {
      diskFault = faultOf(error) ?? diskFault;
      publish();
    },
    stop: () => clearInterval(timer),
  };
}

/** Makes a test write that reaches the disk and leaves no data. */
function writeAndUndo(db: Database): void {
  if (db.inTransaction) db.run('ROLLBACK');
  db.run(`INSERT INTO maintenance (name, value) VALUES ('probe', 0) ON CONFLICT DO NOTHING`);
  db.run(`DELETE FROM maintenance WHERE name = 'probe'`);
}
