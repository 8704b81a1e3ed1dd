import type { TaskStorage } from '../../../server/storage/storage.ts';
import type { Handler } from '../../../server/tasks/handlers.ts';

/** Markers in a record's text that make the poisoned worker throw or exit. */
export const throwsOn = 'poison: throw';
export const exitsOn = 'poison: exit';

const workMs = 2;
const slowMs = 1;
/**
 * With a few queued documents, the total delay exceeds the client's pause between changes, so that
 * results are stale when the worker stores them.
 */
const overtakenMs = 10;

export function poisoned(inner: Handler): Handler {
  return (work) => {
    Bun.sleepSync(workMs);
    if (work.text?.content.includes(throwsOn)) throw new Error('poisoned');
    if (work.text?.content.includes(exitsOn)) process.kill(process.pid, 'SIGKILL');
    return inner(work);
  };
}

export function overtaken(inner: Handler): Handler {
  return async (work) => {
    const result = await inner(work);
    Bun.sleepSync(overtakenMs);
    return result;
  };
}

export function slowed(inner: Handler): Handler {
  return (work) => {
    Bun.sleepSync(slowMs);
    return inner(work);
  };
}

/** Completes a task before its work is done. */
export function completedFirst(inner: Handler): Handler {
  return async (work) => {
    const result = { ...work.task, now: Date.now(), chunks: 1 };
    await work.storage.completeTasks([result]);
    return inner(work);
  };
}

const counted = new WeakSet<object>();

/** Prints how many results the storage rejects because their leases have been lost. */
export function rejectionsCounted(inner: Handler): Handler {
  return (work) => {
    const { storage } = work;
    if (!counted.has(storage)) printRejections(storage);
    counted.add(storage);
    return inner(work);
  };
}

function printRejections(storage: TaskStorage): void {
  const { completeTasks } = storage;
  storage.completeTasks = async (results) => {
    const stored = await completeTasks(results);
    const rejected = stored.filter((isStored) => !isStored).length;
    if (rejected > 0) console.error(`rejected ${rejected}`);
    return stored;
  };
}
