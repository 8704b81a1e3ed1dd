import type { Database } from 'bun:sqlite';
import { faultOf } from '../errors.ts';
import type { FileCheck } from '../file-identity.ts';

/** Whether writes can succeed. A fault is noticed by a write, or by a look at the file. */
export type WriteHealth = {
  /** Why writes fail now, in words; null where they do not. Looks at the file each time. */
  check(): string | null;
  /** Takes note of an error of a write; one that is not the database's fault is passed over. */
  note(error: unknown): void;
  stop(): void;
};

/** How often the file is looked at, and a fault is probed for its end. */
const probeEveryMs = 500;

/** `changed` hears of every change, so that /health and other threads know without asking. */
export function createWriteHealth(options: {
  db: Database;
  fileCheck: FileCheck;
  changed(fault: string | null): void;
}): WriteHealth {
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
    check,
    note(error) {
      diskFault = faultOf(error) ?? diskFault;
      publish();
    },
    stop: () => clearInterval(timer),
  };
}

/** A write that reaches the disk and leaves nothing behind. */
function writeAndUndo(db: Database): void {
  if (db.inTransaction) db.run('ROLLBACK');
  db.run(`INSERT INTO maintenance (name, value) VALUES ('probe', 0) ON CONFLICT DO NOTHING`);
  db.run(`DELETE FROM maintenance WHERE name = 'probe'`);
}
