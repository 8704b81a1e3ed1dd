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
  return async (task, storage) => {
    const { projectId, memoryId } = task;
    const memory = await storage.getMemory({ projectId, id: memoryId ?? '', now: 0 });
    const content = memory?.content ?? '';
    Bun.sleepSync(workMs);
    if (content.includes(throwsOn)) throw new Error('poisoned');
    if (content.includes(exitsOn)) process.kill(process.pid, 'SIGKILL');
    return inner(task, storage);
  };
}

export function overtaken(inner: Handler): Handler {
  return async (task, storage) => {
    const result = await inner(task, storage);
    Bun.sleepSync(overtakenMs);
    return result;
  };
}

export function slowed(inner: Handler): Handler {
  return (task, storage) => {
    Bun.sleepSync(slowMs);
    return inner(task, storage);
  };
}

/** Completes a task before its work is done. The worker passes its whole storage. */
export function completedFirst(inner: Handler): Handler {
  return async (task, storage) => {
    const result = { ...task, now: Date.now(), chunks: 1 };
    await (storage as TaskStorage).completeTasks([result]);
    return inner(task, storage);
  };
}

const counted = new WeakSet<object>();

/** Prints how many results the storage rejects because their leases have been lost. */
export function rejectionsCounted(inner: Handler): Handler {
  return (task, storage) => {
    if (!counted.has(storage)) printRejections(storage as TaskStorage);
    counted.add(storage);
    return inner(task, storage);
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
