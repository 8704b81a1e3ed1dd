import { Database } from 'bun:sqlite';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { isDamage } from './errors.ts';

/** How many faults are named; one is enough to refuse a file. */
const maxFaults = 5;

/** What SQLite finds wrong with the structure of the file; empty where it is sound. Changed text
 * inside a row cannot be seen. */
export function structuralFaults(db: Database): string[] {
  return faultsBy(db, 'integrity_check');
}

/** Without the look whether indexes and tables agree: about a second for each gigabyte in cache. */
function coarseFaults(db: Database): string[] {
  return faultsBy(db, 'quick_check');
}

function faultsBy(db: Database, check: 'integrity_check' | 'quick_check'): string[] {
  try {
    const rows = db.prepare<unknown, []>(`PRAGMA ${check}(${maxFaults})`).values();
    return rows.map(([line]) => String(line)).filter((line) => line !== 'ok');
  } catch (error) {
    // A file out of reach for the moment is not one to be replaced by an old backup.
    if (!isDamage(error)) throw error;
    return [error.message];
  }
}

/** The coarse faults, found in a thread of its own while the service runs. */
export function findFaultsInThread(path: string): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(new URL(import.meta.url), { workerData: { checkedPath: path } });
    // A check must not keep a server from ending.
    thread.unref();
    thread.once('message', resolve);
    thread.once('error', reject);
    thread.once('exit', () => reject(new Error('the check ended without a result')));
  });
}

if (!isMainThread && typeof workerData?.checkedPath === 'string') {
  const db = new Database(workerData.checkedPath, { readonly: true });
  parentPort?.postMessage(coarseFaults(db));
  db.close(true);
}

export function damaged(path: string, faults: string[]): Error {
  return new Error(
    `${path} is damaged and is not served:\n  ${faults.join('\n  ')}\n` +
      'Restore the last backup with "memory restore <backup>"; it keeps this file beside it.',
  );
}
