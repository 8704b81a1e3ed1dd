import type { Thread, Threads } from '../../threads/start.ts';
import type { WriteOperation } from '../engine.ts';
import { projectOf } from '../pooled-reads.ts';
import { outcomeUnknown, unavailable } from '../refusals.ts';
import { nameOf } from '../storage.ts';
import type { WriterNotice, WriterOrder, WriterStart } from './protocol.ts';
import { createWriteQueue } from './write-queue.ts';
import type { CheckpointOutcome } from './writer/checkpoints.ts';

const fileNotSynced =
  'the database file could not be synced to the disk; check the disk, then restart the service. ' +
  'Until then, writes are stored but the write-ahead log keeps growing';

export type WriterClient = ReturnType<typeof createWriterClient>;

/**
 * The HTTP thread's handle to the writer thread and to the checkpoint thread, which starts with the
 * first checkpoint. If the writer exits or hangs, its unfinished writes fail with an unknown
 * outcome, and writes that have not been sent are rejected.
 */
export function createWriterClient(
  path: string,
  options: {
    threads: Threads;
    /** Runs `work` while no reader thread has a transaction open. */
    betweenReads(work: () => Promise<unknown>): Promise<void>;
  },
) {
  const { threads, betweenReads } = options;
  const queue = createWriteQueue(({ operation, argument }) => {
    const why = writer.refusal();
    if (why !== null) return Promise.reject(unavailable(`${why}; nothing was stored`));
    return writer.call(operation, argument);
  });
  let isStopping = false;
  let fault: string | null = null;
  /** Whether a sync of the file has ever failed. No further checkpoints are made then. */
  let syncFailed = false;
  let checkpointer: Thread | null = null;
  const data: WriterStart = { path };
  const writer = threads.start({
    name: 'writer',
    module: 'server/storage/sqlite/writer/thread.ts',
    data,
    lost: (reason) => outcomeUnknown(new Error(reason)),
    onNotice: (notice) => receive(notice as WriterNotice),
  });

  function order(message: WriterOrder, transfer: MessagePort[] = []): void {
    writer.post(message, transfer);
  }

  function receive(notice: WriterNotice): void {
    if ('fault' in notice) fault = notice.fault;
    else if ('syncFailed' in notice) syncFailed = true;
    else void checkpoint(notice.checkpoint);
  }

  async function checkpoint({ isLong }: { isLong: boolean }): Promise<void> {
    if (!syncFailed) await copyPages();
    if (isLong && !syncFailed) await betweenReads(finishCheckpoint);
    order({ checkpointed: { syncFailed } });
  }

  async function copyPages(): Promise<void> {
    checkpointer ??= threads.start({
      name: 'checkpoint',
      module: 'server/storage/sqlite/checkpoint/thread.ts',
      data: { path },
    });
    try {
      const outcome = (await checkpointer.call('checkpoint', null)) as CheckpointOutcome;
      syncFailed ||= outcome.syncFailed;
    } catch {
      // The thread is stopping or does not respond. A later checkpoint continues.
    }
  }

  async function finishCheckpoint(): Promise<void> {
    try {
      await writer.call('finishCheckpoint', null);
    } catch {
      // The writer thread is stopping or does not respond.
    }
  }

  return {
    ready: writer.ready,
    async write<Input, Result>(
      operation: WriteOperation<Input, Result>,
      input: Input,
    ): Promise<Result> {
      const why = isStopping ? 'the service is shutting down' : fault;
      if (why !== null) throw unavailable(`${why}; nothing was stored`);
      const about = { projectId: projectOf(input), operation: nameOf(operation) };
      const cost = operation.cost?.(input) ?? 1;
      return (await queue.add({ ...about, argument: input, cost })) as Result;
    },
    /** Opens a port through which another thread can call the writer thread. */
    openPort(): MessagePort {
      const { port1, port2 } = new MessageChannel();
      order({ port: port1 }, [port1]);
      return port2;
    },
    fault: () => fault,
    warning: () => (syncFailed ? fileNotSynced : null),
    async stop(): Promise<void> {
      isStopping = true;
      // Wait for the writes that were accepted before the stop.
      await queue.drain();
      await checkpointer?.stop();
      // The writer closes last. If a sync has failed, the writer keeps the WAL for the next start.
      await writer.stop();
    },
  };
}
