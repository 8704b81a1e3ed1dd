import { threadName } from 'node:worker_threads';

/* For modules that each thread of a server or of a storage preloads. */

let path = '';
const listeners: ((json: string) => void)[] = [];

/** The name of this thread; empty in the main thread. */
export const ownThread = Bun.isMainThread ? '' : (threadName ?? '');

export const isOfSqlite = /^(?:writer|reader|checkpoint|integrity)$/.test(ownThread);

/** Calls `listener` with the calls in each message to this thread, as JSON. */
export function onCalls(listener: (json: string) => void): void {
  listeners.push(listener);
}

/** Returns the path of this thread's database. A thread gets it with its first message. */
export function databasePath(): string {
  return path;
}

if (!Bun.isMainThread) {
  addEventListener('message', ({ data }) => {
    if (Array.isArray(data)) for (const listener of listeners) listener(String(data[0]));
    else path = Object(data).start?.path ?? path;
  });
}
