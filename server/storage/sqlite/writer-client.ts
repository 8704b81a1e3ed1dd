import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { FairQueue } from '../../fair-queue.ts';
import type { Port, Returned } from '../../threads/channel.ts';
import { createRestarts } from '../../threads/restarts.ts';
import { startThread, type Thread } from '../../threads/start.ts';
import { outcomeUnknown, unavailable } from '../refusals.ts';
import type { WriteResult } from '../storage.ts';
import { createCheckpointer } from './checkpointer.ts';
import type { WriterNotice, WriterOrder, WriterStart } from './protocol.ts';

/**
 * The writer thread as the HTTP thread sees it. A thread that ends or falls silent is replaced:
 * what it had in hand is answered as of unknown outcome, and what is waiting goes on.
 */
export type WriterClient = {
  ready: Promise<void>;
  write<T>(request: WriteRequest): Promise<T>;
  /** A port by which another thread of the process writes, to this writer thread. */
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

export type WriterOptions = {
  preload: readonly string[];
  warn(message: string, error?: unknown): void;
  /** The writer thread was replaced: ports to the one before are dead. */
  onReplaced(): void;
  /** No writer thread stays up. Its reason is the process's. */
  onEnd(reason: string): void;
};

type Waiting = WriteRequest & { resolve(returned: Returned): void; reject(error: unknown): void };

/**
 * Rows that are in the writer's hands at most, but for a single larger write. Less would make small
 * groups, more would make another project's save wait for a project's batches.
 */
const maxRowsInHand = 128;

export function createWriterClient(path: string, options: WriterOptions): WriterClient {
  const { preload, warn, onReplaced, onEnd } = options;
  const queue = new FairQueue<Waiting>();
  const restarts = createRestarts(onEnd);
  const drained = Promise.withResolvers<void>();
  let rowsInHand = 0;
  let isStopping = false;
  let fault: string | null = null;
  let silence: string | null = null;
  let writer = start();
  const checkpointer = createCheckpointer(path, {
    preload,
    warn,
    made: (checkpointed) => order({ checkpointed }),
  });

  function start(): Thread {
    const data: WriterStart = { path };
    return startThread({
      name: 'writer',
      module: 'server/storage/sqlite/writer/thread.ts',
      data,
      preload,
      lost: (reason) => outcomeUnknown(new Error(reason)),
      onSilent(reason) {
        warn(reason);
        silence = reason;
        // In a loop it ends at once; waiting for the disk, when the disk answers.
        writer.terminate();
        restarts.expect(reason);
      },
      onEnd(reason) {
        if (!restarts.admit(reason)) return;
        warn(`${reason}; it is being restarted`);
        silence = null;
        fault = null;
        writer = start();
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
    else checkpointer.checkpoint();
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
      if (isStopping && rowsInHand === 0) drained.resolve();
    };
    writer.call(operation, argument, texts).then(resolve, reject).then(done, done);
  }

  return {
    ready: Promise.all([writer.ready, checkpointer.ready]).then(() => {}),
    async write<T>(request: WriteRequest): Promise<T> {
      const why = isStopping ? 'the service is shutting down' : (silence ?? fault);
      if (why !== null) throw unavailable(`${why}; nothing was stored`);
      const { value, texts } = await new Promise<Returned>((resolve, reject) => {
        queue.push(request.projectId, { ...request, resolve, reject }, request.cost);
        dispatch();
      });
      const [body] = texts;
      if (body === undefined) return value as T;
      const { response, replayed } = value as WriteResult;
      return { response: { ...response, body: String(body) }, replayed } as T;
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
      // What was asked for before is still stored.
      if (rowsInHand > 0) await drained.promise;
      restarts.stop();
      await checkpointer.stop();
      // The writer closes last, and leaves a log that the file may lack to the next start.
      await writer.stop();
    },
  };
}
