import { FairQueue } from '../../fair-queue.ts';
import type { Returned } from '../../threads/channel.ts';
import { maxSmallRows } from './protocol.ts';

export type WriteRequest = {
  projectId: number;
  operation: string;
  argument: unknown;
  /** The contents of the memories in the argument, in order. */
  texts?: string[];
  /** The approximate number of rows to write. */
  cost?: number;
};

/**
 * The writes that wait for the writer thread. Projects take turns. At most one large write is in
 * flight, so that a save waits for at most one large write.
 */
export type WriteQueue = {
  add(request: WriteRequest): Promise<Returned>;
  /** Rejects the writes that have not been sent. */
  rejectWaiting(error: Error): void;
  /** Sends the waiting writes without pauses. Resolves when all writes have settled. */
  drain(): Promise<void>;
};

type Waiting = WriteRequest & { resolve(returned: Returned): void; reject(error: unknown): void };

/** The maximum number of rows in small writes in flight. */
const maxRowsInHand = maxSmallRows;
/** Large writes pause if a small write has been sent within this time. */
const mixedMs = 1_000;
/** The length of the pause, relative to the large write before it. */
const pauseFactor = 3;

export function createWriteQueue(send: (request: WriteRequest) => Promise<Returned>): WriteQueue {
  const queue = new FairQueue<Waiting>();
  const drained = Promise.withResolvers<void>();
  /** The number of writes in flight, and the number of rows in the small ones. */
  let inHand = 0;
  let rowsInHand = 0;
  let isLargeInHand = false;
  let isPaused = false;
  let isDraining = false;
  let smallSentAt = Number.NEGATIVE_INFINITY;

  function dispatch(): void {
    for (;;) {
      const next = queue.take((_, { cost = 1 }) => mayBeSent(cost));
      if (next === undefined) return;
      hand(next);
    }
  }

  function mayBeSent(cost: number): boolean {
    if (cost <= maxSmallRows) return rowsInHand + cost <= maxRowsInHand;
    return !isLargeInHand && (isDraining || !isPaused);
  }

  function hand(write: Waiting): void {
    const { cost = 1, resolve, reject } = write;
    const done = cost <= maxSmallRows ? beginSmall(cost) : beginLarge();
    inHand += 1;
    const settled = () => {
      inHand -= 1;
      done();
      dispatch();
      if (isDraining && inHand === 0) drained.resolve();
    };
    send(write).then(resolve, reject).then(settled, settled);
  }

  function beginSmall(cost: number): () => void {
    rowsInHand += cost;
    smallSentAt = performance.now();
    return () => {
      rowsInHand -= cost;
    };
  }

  /** While small writes arrive, large writes use at most a quarter of the writer's time. */
  function beginLarge(): () => void {
    const sentAt = performance.now();
    isLargeInHand = true;
    return () => {
      isLargeInHand = false;
      const now = performance.now();
      if (now - smallSentAt > mixedMs) return;
      isPaused = true;
      const pauseMs = pauseFactor * (now - sentAt);
      setTimeout(() => {
        isPaused = false;
        dispatch();
      }, pauseMs);
    };
  }

  return {
    add(request) {
      return new Promise((resolve, reject) => {
        queue.push(request.projectId, { ...request, resolve, reject }, request.cost);
        dispatch();
      });
    },
    rejectWaiting(error) {
      for (const { reject } of queue.clear()) reject(error);
    },
    async drain() {
      isDraining = true;
      dispatch();
      if (inHand > 0) await drained.promise;
    },
  };
}
