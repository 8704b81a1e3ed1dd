import type { Thread, Threads } from '../../threads/start.ts';
import type { CheckpointOutcome } from './writer/checkpoints.ts';

/** The HTTP thread's handle to the checkpoint thread, which starts with the first checkpoint. */
export type Checkpointer = {
  /** Resolves after the checkpoint, whether it succeeded or not. */
  checkpoint(): Promise<void>;
  /** Records that the writer failed to sync the file. No further checkpoints are made. */
  noteSyncFailure(): void;
  /** Whether a sync of the file has ever failed. */
  syncFailed(): boolean;
  warning(): string | null;
  stop(): Promise<void>;
};

const fileNotSynced =
  'the database file could not be synced to the disk; check the disk, then restart the service. ' +
  'Until then, writes are stored but the write-ahead log keeps growing';

export function createCheckpointer(path: string, threads: Threads): Checkpointer {
  let syncFailed = false;
  let thread: Thread | null = null;

  function start(): Thread {
    return threads.start({
      name: 'checkpoint',
      module: 'server/storage/sqlite/checkpoint/thread.ts',
      data: { path },
      lost: (reason) => new Error(reason),
    });
  }

  return {
    async checkpoint() {
      if (syncFailed) return;
      thread ??= start();
      try {
        const outcome = (await thread.call('checkpoint', null)) as CheckpointOutcome;
        syncFailed ||= outcome.syncFailed;
      } catch {
        // The thread is stopping or does not respond. A later checkpoint continues.
      }
    },
    noteSyncFailure() {
      syncFailed = true;
    },
    syncFailed: () => syncFailed,
    warning: () => (syncFailed ? fileNotSynced : null),
    async stop() {
      await thread?.stop();
    },
  };
}
