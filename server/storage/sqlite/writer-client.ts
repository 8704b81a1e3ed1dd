import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Port } from '../../threads/channel.ts';
import { createRestarts } from '../../threads/restarts.ts';
import { startThread, type Thread } from '../../threads/start.ts';
import { outcomeUnknown, unavailable } from '../refusals.ts';
import type { WriteResult } from '../storage.ts';
import { createCheckpointer } from './checkpointer.ts';
import type { WriterNotice, WriterOrder, WriterStart } from './protocol.ts';
import { createWriteQueue, type WriteRequest } from './write-queue.ts';

/**
 * The HTTP thread's handle to the writer thread. A writer thread that exits or hangs is replaced,
 * and its unfinished writes fail with an unknown outcome. After an exit, waiting writes continue on
 * the new thread. If the thread hangs, they are rejected at once.
 */
export type WriterClient = {
  ready: Promise<void>;
  write<T>(request: WriteRequest): Promise<T>;
  /** Opens a port through which another thread can call the current writer thread. */
  openPort(): MessagePort;
  fault(): string | null;
  warning(): string | null;
  stop(): Promise<void>;
};

export type WriterOptions = {
  preload: readonly string[];
  /** Runs `work` while no reader thread has a transaction open. */
  betweenReads(work: () => Promise<unknown>): Promise<void>;
  warn(message: string, error?: unknown): void;
  /** Called when the thread has been replaced. Ports to the old thread no longer work. */
  onReplaced(): void;
  /** Called with the reason when the writer thread keeps failing and the process must exit. */
  onEnd(reason: string): void;
};

export function createWriterClient(path: string, options: WriterOptions): WriterClient {
  const { preload, betweenReads, warn, onReplaced, onEnd } = options;
  const queue = createWriteQueue(({ operation, argument, texts }) =>
    writer.call(operation, argument, texts),
  );
  const restarts = createRestarts(onEnd);
  let isStopping = false;
  let fault: string | null = null;
  let silence: string | null = null;
  const checkpointer = createCheckpointer(path, { preload, warn });
  let writer = start();

  function start(): Thread {
    const data: WriterStart = { path, syncFailed: checkpointer.syncFailed() };
    return startThread({
      name: 'writer',
      module: 'server/storage/sqlite/writer/thread.ts',
      data,
      preload,
      lost: (reason) => outcomeUnknown(new Error(reason)),
      onSilent(reason) {
        warn(reason);
        silence = reason;
        queue.rejectWaiting(unavailable(`${reason}; nothing was stored`));
        // A thread stuck in a loop ends immediately. A thread that waits for the disk ends only
        // when the disk responds.
        writer.terminate();
        restarts.expect(reason);
      },
      onEnd(reason) {
        if (!restarts.admit(reason)) return;
        warn(`${reason}; it is being restarted`);
        fault = null;
        writer = start();
        writer.ready.then(
          () => {
            silence = null;
          },
          () => {},
        );
        onReplaced();
      },
      onNotice: (notice) => take(notice as WriterNotice),
    });
  }

  function order(message: WriterOrder, transfer: MessagePort[] = []): void {
    writer.post(message, transfer);
  }

  function take(notice: WriterNotice): void {
    if ('fault' in notice) fault = notice.fault;
    else if ('warning' in notice) warn(notice.warning, notice.error);
    else if ('syncFailed' in notice) checkpointer.noteSyncFailure();
    else void checkpoint(notice.checkpoint);
  }

  async function checkpoint({ isLong }: { isLong: boolean }): Promise<void> {
    await checkpointer.checkpoint();
    if (isLong && !checkpointer.syncFailed()) await betweenReads(finishCheckpoint);
    order({ checkpointed: { syncFailed: checkpointer.syncFailed() } });
  }

  async function finishCheckpoint(): Promise<void> {
    try {
      await writer.call('finishCheckpoint', null);
    } catch {
      // The writer thread has ended. Its replacement requests another checkpoint.
    }
  }

  return {
    ready: writer.ready,
    async write<T>(request: WriteRequest): Promise<T> {
      // mutate-ignore operand: the writer gives the same reason
      const why = isStopping ? 'the service is shutting down' : (silence ?? fault);
      if (why !== null) throw unavailable(`${why}; nothing was stored`);
      const { value, texts } = await queue.add(request);
      const [body] = texts;
      if (body === undefined) return value as T;
      const { response, ...rest } = value as WriteResult;
      return { response: { ...response, body: body }, ...rest } as T;
    },
    openPort() {
      const { port1, port2 } = new MessageChannel();
      order({ port: port1 as Port }, [port1]);
      return port2;
    },
    fault: () => silence ?? fault,
    warning: () => checkpointer.warning(),
    async stop() {
      isStopping = true;
      // Wait for the writes that were accepted before the stop.
      await queue.drain();
      restarts.stop();
      await checkpointer.stop();
      // The writer closes last. If a sync has failed, the writer keeps the WAL for the next start.
      await writer.stop();
    },
  };
}
