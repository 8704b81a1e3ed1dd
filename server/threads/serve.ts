import { readlinkSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { asData, createLogger, type Logger, type LogLevel } from '../log.ts';
import { useSharedCounts } from '../metrics/counts.ts';
import type { Port } from './channel.ts';
import { countTexts } from './garbage.ts';
import {
  attachLarge,
  type Call,
  detachLarge,
  isStart,
  type Message,
  packError,
  pingEveryMs,
  type Reply,
  type Report,
  ticksIn,
} from './messages.ts';

export type Incoming = {
  operation: string;
  argument: unknown;
  /** Replies are buffered until `flushReplies`. */
  reply(value: unknown): void;
  fail(error: unknown): void;
};

/** A `nice` value: 0 is the default, 19 the lowest priority. */
const lowPriority = 10;

export type Inbox = { flushReplies(): void };

/** Passes each call to `handle`, in order. */
export function openInbox(port: Port, handle: (call: Incoming) => void): Inbox {
  let replies: Reply[] = [];
  let replyTexts: string[] = [];

  function receive(message: Message): void {
    countTexts(message);
    const [json, ...texts] = message;
    for (const [id, operation, rest, large] of JSON.parse(json) as Call[]) {
      handle({
        operation,
        argument: attachLarge(rest, large, texts),
        reply(value) {
          const detached = detachLarge(value, replyTexts);
          replies.push({ id, value: detached.rest, large: detached.large });
        },
        fail: (error) => replies.push({ id, error: packError(error), large: [] }),
      });
    }
  }

  port.listen((message) => {
    if (Array.isArray(message)) receive(message as Message);
  });
  return {
    flushReplies() {
      if (replies.length === 0) return;
      const message: Message = [JSON.stringify(replies), ...replyTexts];
      countTexts(message);
      replies = [];
      replyTexts = [];
      port.postMessage(message);
    },
  };
}

/** Answers each call once `run` has ended, with what it returns or throws. */
export function answerCalls(
  port: Port,
  run: (operation: string, argument: unknown) => unknown,
  afterReply = () => {},
): void {
  const inbox = openInbox(port, async ({ operation, argument, reply, fail }) => {
    try {
      reply(await run(operation, argument));
    } catch (error) {
      fail(error);
    }
    inbox.flushReplies();
    afterReply();
  });
}

/**
 * Lowers the priority of this thread, so that the HTTP thread and the writer run first if there are
 * fewer cores than busy threads. Only Linux supports a priority for each thread. In a process that
 * was started with another priority than the default, all threads keep that one.
 */
export function yieldPriority(): void {
  try {
    const [id] = /\d+$/.exec(readlinkSync('/proc/thread-self')) ?? [];
    if (id !== undefined && getPriority(Number(id)) === 0) setPriority(Number(id), lowPriority);
  } catch {
    // Another system, or not permitted: the thread keeps its priority.
  }
}

const listeners: ((message: unknown) => void)[] = [];
/** The messages that have arrived before the thread listens; then null. */
let early: unknown[] | null = [];

/** `log` writes to the log of the service. */
type Started<Data> = Data & { log: Logger; logLevel: LogLevel };

/**
 * Returns the data that the HTTP thread has started this thread with. Each thread's module calls
 * this once, before its first `await`, because later it would miss the message.
 */
export function startData<Data>(): Promise<Started<Data>> {
  const started = Promise.withResolvers<Started<Data>>();
  addEventListener('message', ({ data }) => {
    if (isStart(data)) {
      useSharedCounts(data.counts);
      const { start, logLevel } = data;
      const log = createLogger(logLevel, (entry) => {
        parent.postMessage({ log: asData(entry) } satisfies Report);
      });
      started.resolve({ ...(start as Data), log, logLevel });
    } else if (early !== null) early.push(data);
    else tell(data);
  });
  return started.promise;
}

function tell(message: unknown): void {
  for (const listener of listeners) listener(message);
}

function tellEarly(): void {
  const messages = early ?? [];
  early = null;
  messages.forEach(tell);
}

/** The port to the HTTP thread. */
export const parent: Port = {
  postMessage: (message) => postMessage(message),
  listen(listener) {
    // A module may add several listeners.
    if (listeners.push(listener) === 1) setImmediate(tellEarly);
  },
};

/** Much shorter than the time after which a thread counts as silent. */
const progressEveryMs = 100;
let reportedAt = Number.NEGATIVE_INFINITY;

/** Reports from inside a long operation that the thread is still working. */
export function reportProgress(): void {
  const now = performance.now();
  if (Bun.isMainThread || now - reportedAt < progressEveryMs) return;
  reportedAt = now;
  parent.postMessage('alive');
}

/** Limits even announced operations, because a disk may hang during one. */
const maxAnnouncedMs = 10 * 60_000;

/** Runs a long operation that cannot report progress. Until it ends, the thread is not silent. */
export function announced<T>(operation: () => T, maxMs = maxAnnouncedMs): T {
  if (Bun.isMainThread) return operation();
  parent.postMessage({ busyMs: maxMs } satisfies Report);
  try {
    return operation();
  } finally {
    parent.postMessage('alive');
  }
}

/** Reports that the thread is ready, responds to pings, and exits on `stop`. */
export function watched(close: () => void | Promise<void>): void {
  parent.listen(async (message) => {
    if (message === 'ping') parent.postMessage('alive');
    if (message !== 'stop') return;
    await close();
    // An open port would otherwise keep the thread running.
    process.exit(0);
  });
  parent.postMessage('ready');
}

/**
 * Calls `onHang` if the HTTP thread has sent no ping for this long. This is counted in ticks of the
 * calling thread, which has none while the process is suspended.
 */
export function watchHttpThread(hungAfterMs: number, onHang: () => void): void {
  let silentTicks = 0;
  parent.listen((message) => {
    if (message === 'ping') silentTicks = 0;
  });
  setInterval(() => {
    silentTicks += 1;
    if (silentTicks === ticksIn(hungAfterMs)) onHang();
  }, pingEveryMs).unref();
}
