import type { Config } from '../config.ts';
import type { LogEntry, Logger } from '../log.ts';
import type { Storage } from '../storage/storage.ts';
import { createRestarts } from '../threads/restarts.ts';
import { startThread, type Thread } from '../threads/start.ts';
import type { TasksNotice, TasksStart } from './thread.ts';

/** The HTTP thread's handle to the tasks thread, which is restarted if it exits or hangs. */
export type TaskRunner = {
  /** Resolves when the first thread is ready; rejects if it fails to start. */
  ready: Promise<void>;
  /** Notifies the worker of new work. This is cheap enough to call for every accepted record. */
  wake(): void;
  /** Restarts the thread with a new connection to the storage. */
  restart(): void;
  /** Returns why no tasks are being processed, or null. */
  fault(): string | null;
  /** Returns the time of the worker's last progress, as a `performance.now()` timestamp. */
  movedAt(): number;
  stop(): Promise<void>;
};

export function startTasks(options: {
  storage: Storage;
  config: Pick<Config, 'logLevel'>;
  log: Logger;
  write(entry: LogEntry): void;
  /** Called with the reason when the thread cannot be restarted. */
  onEnd(reason: string): void;
  preload: readonly string[];
}): TaskRunner {
  const { storage, config, log, write, preload } = options;
  const restarts = createRestarts(options.onEnd);
  let isAwake = false;
  let silence: string | null = null;
  let movedAt = performance.now();
  let thread = start();

  function start(): Thread {
    const { data, transfer } = storage.connection();
    const started: TasksStart = { connection: data, logLevel: config.logLevel };
    return startThread({
      name: 'tasks',
      module: 'server/tasks/thread.ts',
      data: started,
      transfer,
      preload,
      lost: (reason) => new Error(reason),
      onSilent: (reason) => {
        log.error(reason);
        silence = reason;
        // A thread in a system call exits only when the call returns.
        thread.terminate();
        restarts.expect(reason);
      },
      onEnd: (reason) => {
        if (!restarts.admit(reason)) return;
        log.error(`${reason}; it is being restarted`);
        silence = null;
        thread = start();
      },
      onNotice: (notice) => take(notice as TasksNotice),
    });
  }

  function take(notice: TasksNotice): void {
    if (notice === 'moved') movedAt = performance.now();
    else write(notice.log);
  }

  return {
    ready: thread.ready,
    wake() {
      if (isAwake) return;
      isAwake = true; // mutate-ignore boolean: wakes the thread too often
      // At most one message is sent per turn of the event loop, however many records were accepted.
      setImmediate(() => {
        isAwake = false;
        thread.post('wake');
      });
    },
    restart: () => thread.terminate(),
    fault: () => silence,
    movedAt: () => movedAt,
    stop() {
      restarts.stop();
      return thread.stop();
    },
  };
}
