import { Worker } from 'node:worker_threads';
import { type Channel, createChannel } from './channel.ts';
import { watchStarvation } from './starvation.ts';

/**
 * A service thread and its watchdog.
 *
 *   starting -> running <-> silent (four pings without a message)
 *       \          \----------\---> ended
 *
 * A running thread responds to pings, reports progress from inside a long operation, or has
 * announced an operation during which it cannot respond. Pings do not count while the thread waits
 * for a core. A silent thread may be in an endless loop or waiting for a disk. Its pending calls
 * are rejected, because their outcome is unknown.
 */
export type Thread = Channel & {
  /** Resolves when the thread is ready; rejects if it fails to start. */
  ready: Promise<void>;
  post(message: unknown, transfer?: readonly unknown[]): void;
  /** Asks the thread to finish and close its resources; terminates it after a timeout. */
  stop(): Promise<void>;
  terminate(): void;
};

export type ThreadOptions = {
  name: string;
  /** The path of the thread's module, relative to the repository root. */
  module: string;
  data: unknown;
  transfer?: readonly unknown[];
  /** Modules that are loaded first. Tests use them to inject faults. */
  preload?: readonly string[];
  /** How long an announced operation may take. Default: ten minutes. */
  maxBusyMs?: number;
  /** Creates the error for pending calls of a thread that exited or does not respond. */
  lost(reason: string): Error;
  /** Called when the thread stops responding. The thread may recover. */
  onSilent?(reason: string): void;
  /** Called when the thread exits unexpectedly. */
  onEnd?(reason: string): void;
  /** Called with messages that are neither replies nor responses to pings. */
  onNotice?(notice: unknown): void;
};

const pingEveryMs = 400;
/** Counted in ticks, not in time, because a suspended process has no ticks. */
const silentTicks = 4;
/** During startup, a thread may wait for a lock or recover the database log. */
const maxStartMs = 30_000;
/** Limits even announced operations, because a disk may hang during one. */
const defaultMaxBusyMs = 10 * 60_000;
const stopWithinMs = 5_000;
/** A thread that waits longer than this for a core is treated as silent. */
const maxStarvedMs = 10_000;

const ticksIn = (ms: number) => Math.round(ms / pingEveryMs);

export function startThread(options: ThreadOptions): Thread {
  const { name, lost, onSilent, onEnd, onNotice, maxBusyMs = defaultMaxBusyMs } = options;
  const worker = startWorker(options);
  const channel = createChannel((message) => worker.postMessage(message));
  const ready = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  let ticks = 0;
  let starvedTicks = 0;
  let isStarved = () => false;
  let isReady = false;
  let isStopping = false;
  let cause = `the ${name} thread exited`;

  function tick(): void {
    worker.postMessage('ping');
    if (isStarved() && starvedTicks < ticksIn(maxStarvedMs)) {
      starvedTicks += 1;
      return;
    }
    ticks += 1;
    if (ticks === (isReady ? silentTicks : ticksIn(maxStartMs))) {
      const reason = `the ${name} thread does not respond`;
      channel.failPending(lost(reason));
      onSilent?.(reason);
    }
  }

  function receive(message: unknown): void {
    ticks = message === 'busy' ? silentTicks - ticksIn(maxBusyMs) : 0;
    starvedTicks = 0;
    if (message === 'alive' || message === 'busy' || channel.receive(message)) return;
    if (isReadyMessage(message)) {
      isReady = true;
      isStarved = watchStarvation(message.ready);
      ready.resolve();
    } else onNotice?.(message);
  }

  const timer = setInterval(tick, pingEveryMs);
  timer.unref();
  worker.on('message', receive);
  worker.on('error', (error) => {
    cause = `the ${name} thread exited: ${error instanceof Error ? error.message : String(error)}`;
  });
  worker.once('exit', () => {
    clearInterval(timer);
    channel.failPending(lost(cause));
    ready.reject(new Error(cause));
    ended.resolve();
    if (!isStopping) onEnd?.(cause);
  });
  // Prevents an unhandled rejection if the thread fails later.
  ready.promise.catch(() => {});

  return {
    ...channel,
    ready: ready.promise,
    post: (message, transfer = []) => worker.postMessage(message, [...transfer] as never[]),
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

/** `ready` is the operating system's id of the thread, or an empty string. */
function isReadyMessage(message: unknown): message is { ready: string } {
  return typeof message === 'object' && message !== null && 'ready' in message;
}

function startWorker({ name, module, data, transfer = [], preload = [] }: ThreadOptions): Worker {
  const settings = {
    name,
    workerData: data,
    transferList: [...transfer] as never[],
    // Supported by Bun's Worker, but missing from Node's types.
    preload: [...preload],
  };
  return new Worker(urlOf(module), settings);
}

/**
 * In a compiled executable, every `thread.ts` is an entry point at its path relative to the root.
 */
function urlOf(module: string): URL {
  const isSource = import.meta.url.endsWith('/server/threads/start.ts');
  return new URL(isSource ? `../../${module}` : `./${module}`, import.meta.url);
}
