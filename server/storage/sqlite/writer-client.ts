import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { FairQueue } from '../../fair-queue.ts';
import type { Returned } from '../../threads/channel.ts';
import { startThread, type Thread } from '../../threads/start.ts';
import type { WriteResult } from '../storage.ts';
import { outcomeUnknown, unavailable } from './errors.ts';
import type { WriterNotice, WriterOrder, WriterStart } from './protocol.ts';
import type { CheckpointOutcome } from './writer/checkpoints.ts';

/** The writer thread as the HTTP thread sees it, and the checkpoint thread that serves it. */
export type WriterClient = {
  ready: Promise<void>;
  write<T>(request: WriteRequest): Promise<T>;
  /** A port by which another thread of the process writes. */
  openPort(): MessagePort;
  /** Why writes fail now; null where they do not. */
  fault(): string | null;
  /** What is worth the operator's look. */
  warning(): string | null;
  stop(): Promise<void>;
};

export type WriteRequest = {
  projectId: number;
  operation: string;
  argument: unknown;
  /** Contents of the memories in the argument, in their order. */
  texts?: string[];
  /** About how many rows it writes. */
  cost?: number;
};

type Waiting = WriteRequest & { resolve(returned: Returned): void; reject(error: unknown): void };

/**
 * Rows that are in the writer's hands at most, but for a single larger write. Less would make small
 * groups, more would let a project's batches stand before another project's save.
 */
const maxRowsInHand = 128;

/** A writer that is silent for longer does not come back: a disk that hangs, or an endless loop. */
const maxSilenceMs = 60_000;

export function createWriterClient(
  path: string,
  options: {
    preload: readonly string[];
    warn(message: string, error?: unknown): void;
    /** The writer thread ended. Its reason is the process's. */
    onEnd(reason: string): void;
  },
): WriterClient {
  const { preload, warn, onEnd } = options;
  const queue = new FairQueue<Waiting>();
  const data: WriterStart = { path };
  let rowsInHand = 0;
  let fault: string | null = null;
  let silence: string | null = null;
  let syncFailed = false;
  let isStopping = false;

  const writer = startThread({
    name: 'writer',
    module: 'server/storage/sqlite/writer/thread.ts',
    data,
    preload,
    lost: (reason) => outcomeUnknown(new Error(reason)),
    onSilent: (reason) => {
      warn(reason);
      silence = reason;
      setTimeout(endIfSilent, maxSilenceMs).unref();
    },
    onEnd,
    onNotice: (notice) => take(notice as WriterNotice),
  });
  let checkpointer = startCheckpointer();

  function startCheckpointer(): Thread {
    return startThread({
      name: 'checkpoint',
      module: 'server/storage/sqlite/checkpoint/thread.ts',
      data,
      preload,
      lost: (reason) => new Error(reason),
      onSilent: warn,
      onEnd(reason) {
        warn(`${reason}; it is started again`);
        if (!isStopping) checkpointer = startCheckpointer();
      },
    });
  }

  function endIfSilent(): void {
    if (!isStopping && reason() !== null && !writer.isResponsive()) onEnd(`${silence} any more`);
  }

  function order(message: WriterOrder, transfer: MessagePort[] = []): void {
    writer.post(message, transfer);
  }

  function take(notice: WriterNotice): void {
    if ('fault' in notice) fault = notice.fault;
    else if ('warning' in notice) warn(notice.warning, notice.error);
    else void checkpoint();
  }

  async function checkpoint(): Promise<void> {
    const unknown: CheckpointOutcome = { syncFailed: false };
    const made = await checkpointer.call('checkpoint', null).then(
      ({ value }) => value as CheckpointOutcome,
      () => unknown,
    );
    syncFailed ||= made.syncFailed;
    order({ checkpointed: made });
  }

  /** Hands over what waits, from the projects in turn, as much as fits into the writer's hands. */
  function dispatch(): void {
    while (rowsInHand < maxRowsInHand) {
      const next = queue.take((_, { cost = 1 }) => {
        return rowsInHand === 0 || rowsInHand + cost <= maxRowsInHand;
      });
      if (next === undefined) return;
      hand(next);
    }
  }

  function hand({ operation, argument, texts, cost = 1, resolve, reject }: Waiting): void {
    rowsInHand += cost;
    const done = () => {
      rowsInHand -= cost;
      dispatch();
    };
    writer.call(operation, argument, texts).then(resolve, reject).then(done, done);
  }

  function reason(): string | null {
    if (silence !== null && writer.isResponsive()) silence = null;
    return silence ?? fault;
  }

  return {
    ready: Promise.all([writer.ready, checkpointer.ready]).then(() => {}),
    async write<T>(request: WriteRequest): Promise<T> {
      const why = reason();
      if (why !== null) throw unavailable(`${why}; nothing was stored`);
      const { value, texts } = await new Promise<Returned>((resolve, reject) => {
        queue.push(request.projectId, { ...request, resolve, reject });
        dispatch();
      });
      const [body] = texts;
      if (body === undefined) return value as T;
      const { response, replayed } = value as WriteResult;
      return { response: { ...response, body }, replayed } as T;
    },
    openPort() {
      const { port1, port2 } = new MessageChannel();
      order({ port: port1 }, [port1]);
      return port2;
    },
    fault: reason,
    warning: () => (syncFailed ? fileNotSynced : null),
    async stop() {
      isStopping = true;
      await checkpointer.stop();
      // The writer closes last, and leaves a log that the file may lack to the next start.
      await writer.stop();
    },
  };
}

const fileNotSynced =
  'the disk did not take the database file; look at the disk, then restart the service: until then ' +
  'everything is stored, but the log only grows';
