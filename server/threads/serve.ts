import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import type { Port } from './channel.ts';
import { type Call, type LargeText, type Message, packError, type Reply } from './messages.ts';

/** A call as the thread sees it. */
export type Incoming = {
  operation: string;
  argument: unknown;
  /** The large texts that the argument refers to. */
  texts: string[];
  /** Replies are collected until `flushReplies`. */
  reply(value: unknown, texts?: LargeText[]): void;
  fail(error: unknown): void;
};

/** On the scale of `nice`, where 0 is usual and 19 the lowest. */
const lowPriority = 10;

/** The calls that come in by a port, and the way back for their replies. */
export type Inbox = { flushReplies(): void };

/** Hands each call of each message to `take`, in order. */
export function openInbox(port: Port, take: (call: Incoming) => void): Inbox {
  let replies: Reply[] = [];
  let replyTexts: LargeText[] = [];

  function receive([json, ...texts]: Message): void {
    for (const [id, operation, argument, count] of JSON.parse(json) as Call[]) {
      take({
        operation,
        argument,
        texts: texts.splice(0, count) as string[],
        reply(value, own = []) {
          replies.push({ id, value, ...(own.length > 0 && { texts: own.length }) });
          replyTexts.push(...own);
        },
        fail: (error) => replies.push({ id, error: packError(error) }),
      });
    }
  }

  port.on('message', (message: unknown) => {
    if (Array.isArray(message)) receive(message as Message);
  });
  return {
    flushReplies() {
      if (replies.length === 0) return;
      const message: Message = [JSON.stringify(replies), ...replyTexts];
      replies = [];
      replyTexts = [];
      port.postMessage(message, buffersOf(message));
    },
  };
}

/** They are handed over; a message without any stays on the quick way. */
function buffersOf(message: Message): ArrayBuffer[] {
  return message.flatMap((text) => (typeof text === 'string' ? [] : [text.buffer as ArrayBuffer]));
}

/**
 * Lets the HTTP thread and the writer go first where there are fewer cores than threads with work.
 * Linux gives threads a priority of their own; elsewhere all stay equal.
 */
export function yieldPriority(): void {
  try {
    const [tid = ''] = /\d+$/.exec(readlinkSync('/proc/thread-self')) ?? [];
    setPriority(Number(tid), lowPriority);
  } catch {
    // Not Linux, or not allowed: only waiting gets longer.
  }
}

/** The port to the thread that started this one. */
export function parent(): Port {
  // Node's types merge with those of the browser, and want a transfer list.
  const port: Port | null = parentPort as Port | null;
  if (port === null) throw new Error('this module runs in a thread of its own');
  return port;
}

/** Says that the thread is at work, from inside an operation that takes long. */
export function reportProgress(): void {
  if (parentPort !== null) parent().postMessage('alive');
}

/** Runs an operation that takes long and cannot report progress. */
export function announced<T>(operation: () => T): T {
  parent().postMessage('busy');
  try {
    return operation();
  } finally {
    parent().postMessage('alive');
  }
}

/** Says that the thread is ready, answers pings, and ends the thread when it is told to stop. */
export function watched(close: () => void | Promise<void>): void {
  const port = parent();
  port.on('message', async (message: unknown) => {
    if (message === 'ping') port.postMessage('alive');
    if (message !== 'stop') return;
    await close();
    // Nothing of the thread is needed any more; a port that is still open would keep it.
    process.exit(0);
  });
  port.postMessage('ready');
}
