import type { Storage } from '../storage/storage.ts';
import type { Threads } from '../threads/start.ts';
import type { TasksStart } from './worker-thread.ts';

export type TaskRunner = ReturnType<typeof startTasks>;

/** Starts the tasks thread, and returns the HTTP thread's handle to it. */
export function startTasks(options: {
  storage: Storage;
  threads: Threads;
  /** After how long a hanging HTTP thread ends the process, or null for never. */
  httpHungAfterMs: number | null;
}) {
  const { storage, threads, httpHungAfterMs } = options;
  const { data: connection, transfer } = storage.connection();
  const data: TasksStart = { connection, httpHungAfterMs };
  let isAwake = false;
  let movedAt = performance.now();

  const thread = threads.start({
    name: 'tasks',
    module: 'server/tasks/worker-thread.ts',
    data,
    transfer,
    onNotice(notice) {
      if (notice === 'moved') movedAt = performance.now();
    },
  });

  return {
    ready: thread.ready,
    /** Notifies the worker of new work. This is cheap enough to call for every accepted record. */
    wake(): void {
      if (isAwake) return;
      isAwake = true; // mutate-ignore boolean: wakes the thread too often
      // At most one message is sent per turn of the event loop, however many records were accepted.
      setImmediate(() => {
        isAwake = false;
        thread.post('wake');
      });
    },
    /** Returns the time of the worker's last progress, as a `performance.now()` timestamp. */
    movedAt: () => movedAt,
    stop: thread.stop,
  };
}
