import type { LogEntry, LogLevel } from '../log.ts';
import { ownCounts } from '../metrics/counts.ts';
import { createChannel } from './channel.ts';
import { pingEveryMs, type Report, type Start, ticksIn } from './messages.ts';

/*
 * The threads of the service. Each responds to pings, reports progress from inside a long
 * operation, or has announced an operation during which it cannot respond.
 *
 *   starting -> running <-> silent (2 s) <-> refused (10 s) -> lost (30 s)
 *        \---------\------------\----------------\-----------/
 *
 * While a thread is silent, /health fails. After ten seconds, its pending calls fail, and so do
 * new ones: the outcome is unknown. A thread is lost if it exits or has been silent for 30 seconds.
 * The service then ends, and its supervisor restarts it.
 *
 * A pause is counted in pings of this thread, not in time. A suspended process therefore loses no
 * thread, and this thread does not count while it waits for a core itself.
 */

type ThreadOptions = {
  name: string;
  /** The path of the thread's module, relative to the repository root. */
  module: string;
  data: unknown;
  transfer?: readonly MessagePort[];
  /** Creates the error for pending calls of a thread that exited or does not respond. */
  lost?(reason: string): Error;
  /** Called if the thread is lost. By default, the service ends. */
  onLost?(reason: string): void;
  /** Called with messages that are neither replies, log entries nor responses to pings. */
  onNotice?(notice: unknown): void;
};

export type ThreadsOptions = {
  /** Modules that every thread loads first. Tests use them to inject faults. */
  preload?: readonly string[];
  /** Called once, if a thread is lost and the service must end. By default, throws an Error. */
  onFatal?(reason: string): void;
  hungAfterMs?: number;
  logLevel?: LogLevel;
  write?(entry: LogEntry): void;
};

/** A slow disk can block a thread in a system call for many seconds. */
export const defaultHungAfterMs = 30_000;
/** 1.8 seconds. On a busy machine, a healthy thread of low priority may be a second late. */
const silentTicks = 6;
/** Calls are refused after this share of `hungAfterMs`. */
const refusedShare = 1 / 3;
/** A thread may open its database before it is ready. */
const maxStartMs = 30_000;
const stopWithinMs = 5_000;

export type Threads = ReturnType<typeof createThreads>;

export function createThreads({
  preload = [],
  onFatal = fail,
  hungAfterMs = defaultHungAfterMs,
  logLevel = 'silent',
  write = () => {},
}: ThreadsOptions = {}) {
  const essential: Thread[] = [];
  let isEnding = false;

  function end(reason: string): void {
    if (isEnding) return;
    isEnding = true;
    onFatal(reason);
  }

  return {
    start({ onLost, ...options }: ThreadOptions): Thread {
      const given = { preload, logLevel, write, hungTicks: ticksIn(hungAfterMs) };
      const thread = startThread({ ...options, ...given, onLost: onLost ?? end });
      if (onLost === undefined) essential.push(thread);
      return thread;
    },
    /** Returns which thread does not respond, or null. Threads with `onLost` do not count. */
    fault: () => essential.map((thread) => thread.fault()).find((fault) => fault !== null) ?? null,
  };
}

function fail(reason: string): void {
  throw new Error(reason);
}

type StartOptions = ThreadOptions &
  Required<Pick<ThreadOptions, 'onLost'>> &
  Required<Pick<ThreadsOptions, 'preload' | 'logLevel' | 'write'>> & { hungTicks: number };

export type Thread = ReturnType<typeof startThread>;

function startThread(options: StartOptions) {
  const { name, onLost, onNotice, write, hungTicks } = options;
  const { lost = (reason) => new Error(reason) } = options;
  const worker = startWorker(options);
  const channel = createChannel((message) => worker.postMessage(message));
  const ready = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const silence = `the ${name} thread does not respond`;
  const refusedTicks = Math.round(hungTicks * refusedShare);
  let cause = `the ${name} thread exited`;
  let isStopping = false;
  let lostBecause: string | null = null;
  /** The number of pings since the last message. Negative during an announced operation. */
  let unanswered = -ticksIn(maxStartMs);

  const silentFor = (ticks: number) => lostBecause ?? (unanswered >= ticks ? silence : null);
  const refusal = () => silentFor(refusedTicks);

  function tick(): void {
    worker.postMessage('ping');
    unanswered += 1;
    if (unanswered === refusedTicks) channel.failPending(lost(silence));
    if (unanswered < hungTicks) return;
    worker.terminate();
    lose(silence);
  }

  function receive(message: unknown): void {
    const { busyMs, log }: Report = Object(message);
    unanswered = -ticksIn(busyMs ?? 0);
    if (busyMs !== undefined || message === 'alive' || channel.receive(message)) return;
    if (message === 'ready') ready.resolve();
    else if (log !== undefined) write(log);
    else onNotice?.(message);
  }

  function lose(reason: string): void {
    if (lostBecause !== null) return;
    lostBecause = reason;
    clearInterval(timer);
    channel.failPending(lost(reason));
    ready.reject(new Error(reason));
    ended.resolve();
    if (!isStopping || reason === silence) onLost(reason);
  }

  const timer = setInterval(tick, pingEveryMs);
  timer.unref();
  worker.addEventListener('message', ({ data }) => receive(data));
  worker.addEventListener('error', ({ message }) => {
    // Bun reports an error of a thread with the lines of code around it.
    const [, reason = message] = /^\w*[eE]rror: (.*)$/m.exec(message) ?? [];
    cause = `the ${name} thread exited: ${reason}`;
  });
  worker.addEventListener('close', () => lose(cause));
  // Prevents an unhandled rejection if the thread fails later.
  ready.promise.catch(() => {});

  return {
    ...channel,
    call(operation: string, argument: unknown): Promise<unknown> {
      const reason = refusal();
      if (reason !== null) return Promise.reject(lost(reason));
      return channel.call(operation, argument);
    },
    /** Resolves when the thread is ready; rejects if it fails to start. */
    ready: ready.promise,
    /** Returns why the thread's calls fail at once, or null. */
    refusal,
    /** Returns why the thread does not respond, or null. */
    fault: () => (isStopping ? null : silentFor(silentTicks)),
    post: (message: unknown, transfer: readonly MessagePort[] = []) =>
      worker.postMessage(message, [...transfer]),
    /** Asks the thread to finish and close its resources; terminates it after a timeout. */
    async stop(): Promise<void> {
      isStopping = true;
      channel.flush();
      worker.postMessage('stop');
      using _deadline = setTimeout(() => worker.terminate(), stopWithinMs);
      await ended.promise;
    },
    terminate(): void {
      isStopping = true;
      worker.terminate();
    },
  };
}

/** A thread of node:worker_threads would take 40 ms more of a core to start. */
function startWorker(options: StartOptions): Worker {
  const { name, module, data, transfer = [], preload, logLevel } = options;
  // `smol` collects garbage before the heap has grown by 32 MB, which the other threads could not
  // use.
  const worker = new Worker(urlOf(module), { name, preload: [...preload], smol: true });
  const start: Start = { start: data, counts: ownCounts, logLevel };
  worker.postMessage(start, [...transfer]);
  return worker;
}

/**
 * In a compiled executable, every `thread.ts` and `*-thread.ts` is an entry point at its path
 * relative to the root.
 */
function urlOf(module: string): URL {
  const isSource = import.meta.url.endsWith('/server/threads/start.ts');
  return new URL(isSource ? `../../${module}` : `./${module}`, import.meta.url);
}
