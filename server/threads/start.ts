import { Worker } from 'node:worker_threads';
import { type Channel, createChannel } from './channel.ts';

/**
 * A thread of the service, and the watch over it.
 *
 *   starting -> running <-> silent (no sign of life for two seconds)
 *       \          \----------\---> ended
 *
 * A running thread answers a ping within half a second, reports progress from inside a long
 * operation, or has announced one in which it cannot. A silent thread may be in an endless loop, or
 * wait for a disk that does not answer: what becomes of the calls in its hands is not known, and
 * they are rejected.
 */
export type Thread = Channel & {
  /** Resolves when the thread is ready; rejects with why it is not. */
  ready: Promise<void>;
  /** Sends a message that is not a call. */
  post(message: unknown, transfer?: readonly unknown[]): void;
  /** Whether it gave a sign of life of late. */
  isResponsive(): boolean;
  /** Asks it to finish and close what it has open; ends it after a while if it does not. */
  stop(): Promise<void>;
  /** Ends it at once, whatever it does. */
  terminate(): void;
};

export type ThreadOptions = {
  name: string;
  /** The path of its module from the root of the repository: a `thread.ts`. */
  module: string;
  data: unknown;
  transfer?: readonly unknown[];
  /** Modules that are loaded first; tests inject faults by them. */
  preload?: readonly string[];
  /** The error for calls in the hands of a thread that died or fell silent. */
  lost(reason: string): Error;
  /** It fell silent (and may come back), or it ended without being asked to. */
  onSilent?(reason: string): void;
  onEnd?(reason: string): void;
  /** A message that is neither a reply nor a sign of life. */
  onNotice?(notice: unknown): void;
};

const pingEveryMs = 400;
/** Ticks without a sign of life, so that a process that was stopped itself does not count them. */
const silentTicks = 4;
const stopWithinMs = 5_000;

export function startThread(options: ThreadOptions): Thread {
  const { name, lost, onSilent, onEnd, onNotice } = options;
  const worker = startWorker(options);
  const channel = createChannel((message) => worker.postMessage(message));
  const ready = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  let ticks = 0;
  let isReady = false;
  let isStopping = false;
  let cause = `the ${name} thread ended`;

  function tick(): void {
    if (!isReady) return;
    ticks += 1;
    if (ticks === silentTicks) {
      const reason = `the ${name} thread does not respond`;
      channel.failPending(lost(reason));
      onSilent?.(reason);
    }
    worker.postMessage('ping');
  }

  function receive(message: unknown): void {
    // Announced, and over with the next message.
    ticks = message === 'busy' ? Number.NEGATIVE_INFINITY : 0;
    if (message === 'alive' || message === 'busy' || channel.receive(message)) return;
    if (message === 'ready') {
      isReady = true;
      ready.resolve();
    } else onNotice?.(message);
  }

  const timer = setInterval(tick, pingEveryMs);
  timer.unref();
  worker.on('message', receive);
  worker.on('error', (error) => {
    cause = `the ${name} thread ended: ${error instanceof Error ? error.message : String(error)}`;
  });
  worker.once('exit', () => {
    clearInterval(timer);
    channel.failPending(lost(cause));
    ready.reject(new Error(cause));
    ended.resolve();
    if (!isStopping) onEnd?.(cause);
  });
  // Nobody may be waiting for it when it fails later.
  ready.promise.catch(() => {});

  return {
    ...channel,
    ready: ready.promise,
    post: (message, transfer = []) => worker.postMessage(message, [...transfer] as never[]),
    isResponsive: () => isReady && ticks < silentTicks,
    async stop() {
      isStopping = true;
      channel.flush();
      worker.postMessage('stop');
      const deadline = setTimeout(() => void worker.terminate(), stopWithinMs);
      await ended.promise;
      clearTimeout(deadline);
    },
    terminate: () => void worker.terminate(),
  };
}

function startWorker({ name, module, data, transfer = [], preload = [] }: ThreadOptions): Worker {
  const settings = {
    name,
    workerData: data,
    transferList: [...transfer] as never[],
    // A Worker of Bun takes it, and the types of Node do not know it.
    preload: [...preload],
  };
  return new Worker(urlOf(module), settings);
}

/** In an executable every `thread.ts` is an entry point, under its path from the root. */
function urlOf(module: string): URL {
  const isSource = import.meta.url.endsWith('/server/threads/start.ts');
  return new URL(isSource ? `../../${module}` : `./${module}`, import.meta.url);
}
