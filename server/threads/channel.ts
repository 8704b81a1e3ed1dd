import { type Call, type LargeText, type Message, type Reply, unpackError } from './messages.ts';

/** Either end of a channel between two threads: a MessagePort, or a Worker. */
export type Port = {
  postMessage(message: unknown, transfer?: ArrayBuffer[]): void;
  on(event: 'message', listener: (message: unknown) => void): unknown;
};

/** What a call returned: its value, and the large texts that the value refers to. */
export type Returned = { value: unknown; texts: LargeText[] };

/** Calls operations in another thread and pairs the replies with them. */
export type Channel = {
  call(operation: string, argument: unknown, texts?: string[]): Promise<Returned>;
  /** Sends what was called in this turn of the event loop now. */
  flush(): void;
  /** How many calls wait for their reply. */
  pending(): number;
  /** Rejects every call that waits for its reply; one that comes later is ignored. */
  failPending(error: Error): void;
  /** Takes the message that a thread sent; false where it is none of this channel. */
  receive(message: unknown): boolean;
};

/**
 * Calls that are made in one turn of the event loop go over as one message, and the thread replies
 * to as many as it finished together.
 */
export function createChannel(post: (message: Message) => void): Channel {
  const waiting = new Map<number, PromiseWithResolvers<Returned>>();
  let calls: Call[] = [];
  let texts: string[] = [];
  let isPlanned = false;
  let lastId = 0;

  function flush(): void {
    isPlanned = false;
    if (calls.length === 0) return;
    const message: Message = [JSON.stringify(calls), ...texts];
    calls = [];
    texts = [];
    post(message);
  }

  return {
    call(operation, argument, ownTexts = []) {
      lastId += 1;
      const reply = Promise.withResolvers<Returned>();
      waiting.set(lastId, reply);
      calls.push([lastId, operation, argument, ownTexts.length]);
      texts.push(...ownTexts);
      if (!isPlanned) setImmediate(flush);
      isPlanned = true;
      return reply.promise;
    },
    flush,
    pending: () => waiting.size,
    failPending(error) {
      const failed = [...waiting.values()];
      waiting.clear();
      calls = [];
      texts = [];
      for (const { reject } of failed) reject(error);
    },
    receive(message) {
      if (!Array.isArray(message)) return false;
      const [json, ...returned] = message as Message;
      for (const reply of JSON.parse(json) as Reply[]) settle(waiting, reply, returned);
      return true;
    },
  };
}

function settle(
  waiting: Map<number, PromiseWithResolvers<Returned>>,
  { id, value, error, texts = 0 }: Reply,
  returned: LargeText[],
): void {
  const own = returned.splice(0, texts);
  const reply = waiting.get(id);
  waiting.delete(id);
  if (error !== undefined) reply?.reject(unpackError(error));
  else reply?.resolve({ value, texts: own });
}
