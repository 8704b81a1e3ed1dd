import { FairQueue } from '../../threads/fair-queue.ts';
import { Activity } from '../activity.ts';
import { maxSmallRows } from './protocol.ts';

type WriteRequest = {
  projectId: number;
  operation: string;
  argument: unknown;
  /** The approximate number of rows to write. */
  cost: number;
};

type Waiting = WriteRequest & { resolve(result: unknown): void; reject(error: unknown): void };

/** The maximum total number of rows in the small writes in flight. */
const maxRowsInHand = maxSmallRows;
/** The pause after a large write, relative to its duration. */
const pauseFactor = 3;
const maxPauseMs = 250;

/**
 * The writes that wait for the writer thread. Projects take turns. At most one large write is in
 * flight, so that a save waits for at most one large write. A small write may overtake the large
 * writes of its project, none of which has been acknowledged.
 */
export function createWriteQueue(send: (request: WriteRequest) => Promise<unknown>) {
  const small = new FairQueue<Waiting>();
  const large = new FairQueue<Waiting>();
  /** The projects that send small writes. */
  const activity = new Activity();
  const drained = Promise.withResolvers<void>();
  /** The number of writes in flight, and the number of rows in the small writes among them. */
  let inHand = 0;
  // mutate-ignore constant: one row less
  let rowsInHand = 0;
  let isLargeInHand = false;
  let isPaused = false;
  let isDraining = false;

  function dispatch(): void {
    for (;;) {
      const next = small.dequeue((_, { cost }) => rowsInHand + cost <= maxRowsInHand);
      if (next === undefined) break;
      void hand(next, beginSmall(next));
    }
    if (isLargeInHand || (isPaused && !isDraining)) return;
    const next = large.dequeue();
    if (next !== undefined) void hand(next, beginLarge(next));
  }

  async function hand(write: Waiting, done: () => void): Promise<void> {
    inHand += 1;
    await send(write).then(write.resolve, write.reject);
    inHand -= 1;
    done();
    dispatch();
    if (isDraining && inHand === 0) drained.resolve();
  }

  function beginSmall({ projectId, cost }: Waiting): () => void {
    rowsInHand += cost;
    activity.note(projectId);
    return () => {
      rowsInHand -= cost;
    };
  }

  /** Pauses large writes after this one while other projects send small writes. */
  function beginLarge({ projectId }: Waiting): () => void {
    const sentAt = performance.now();
    isLargeInHand = true;
    return () => {
      isLargeInHand = false;
      if (!activity.hasOthers(projectId)) return;
      isPaused = true;
      const pauseMs = Math.min(maxPauseMs, pauseFactor * (performance.now() - sentAt));
      setTimeout(() => {
        isPaused = false;
        dispatch();
      }, pauseMs);
    };
  }

  return {
    add(request: WriteRequest): Promise<unknown> {
      return new Promise((resolve, reject) => {
        const { projectId, cost } = request;
        const queue = cost <= maxSmallRows ? small : large;
        queue.push(projectId, { ...request, resolve, reject }, cost);
        dispatch();
      });
    },
    /** Sends the waiting writes without pauses. Resolves when all writes have settled. */
    async drain(): Promise<void> {
      isDraining = true;
      dispatch();
      if (inHand > 0) await drained.promise;
    },
  };
}
