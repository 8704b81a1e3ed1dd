import { countTexts } from './garbage.ts';
import {
  attachLarge,
  type Call,
  detachLarge,
  type Message,
  type Reply,
  unpackError,
} from './messages.ts';

/** Either end of a channel between two threads. */
export type Port = {
  postMessage(message: unknown): void;
  listen(listener: (message: unknown) => void): void;
};

export function portOf(port: MessagePort): Port {
  return {
    postMessage: (message) => port.postMessage(message),
    listen(listener) {
      port.onmessage = ({ data }) => listener(data);
    },
  };
}

/** Calls made in the same turn of the event loop are sent as one message. */
export function createChannel(post: (message: Message) => void) {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let calls: Call[] = [];
  let texts: string[] = [];
  let isPlanned = false;
  let lastId = 0; // mutate-ignore constant: any id is unique

  function flush(): void {
    isPlanned = false;
    if (calls.length === 0) return;
    const message: Message = [JSON.stringify(calls), ...texts];
    calls = [];
    texts = [];
    post(message);
  }

  return {
    call(operation: string, argument: unknown): Promise<unknown> {
      lastId += 1; // mutate-ignore constant: any id is unique
      const reply = Promise.withResolvers<unknown>();
      waiting.set(lastId, reply);
      const { rest, large } = detachLarge(argument, texts);
      calls.push([lastId, operation, rest, large]);
      if (!isPlanned) setImmediate(flush);
      isPlanned = true;
      return reply.promise;
    },
    /** Sends pending calls now, instead of at the end of this turn of the event loop. */
    flush,
    /** Rejects every call that has no reply yet. Replies that arrive later are ignored. */
    failPending(error: Error): void {
      const failed = [...waiting.values()];
      waiting.clear();
      calls = [];
      texts = [];
      for (const { reject } of failed) reject(error);
    },
    /** Handles a message. Returns false if the message does not belong to this channel. */
    receive(message: unknown): boolean {
      if (!Array.isArray(message)) return false;
      countTexts(message);
      const [json, ...texts] = message as Message;
      for (const reply of JSON.parse(json) as Reply[]) settle(waiting, reply, texts);
      return true;
    },
  };
}

function settle(
  waiting: Map<number, PromiseWithResolvers<unknown>>,
  { id, value: rest, error, large }: Reply,
  texts: string[],
): void {
  const value = attachLarge(rest, large, texts);
  const reply = waiting.get(id);
  waiting.delete(id);
  if (error !== undefined) reply?.reject(unpackError(error));
  else reply?.resolve(value);
}
