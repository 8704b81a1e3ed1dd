import { ServiceError } from '../errors.ts';
import { FairQueue } from '../threads/fair-queue.ts';

/**
 * Limits how many calls run at the same time, and the size of the messages that wait. Projects with
 * waiting calls take turns.
 */
export type Turns = {
  /** Runs the call when it is its turn. Throws `unavailable` if it would wait too long. */
  run<T>(turn: Turn, call: () => Promise<T>): Promise<T>;
};

/** `bytes` is the size of the message. `signal` cancels a call that is still waiting. */
type Turn = { projectId: number; bytes: number; signal: AbortSignal };

export type TurnLimits = {
  maxRunning: number;
  maxProjectRunning: number;
  maxWaitingBytes: number;
  maxProjectWaitingBytes: number;
  maxWaitMs: number;
};

/** A waiting message also needs memory for its request and its parsed form. */
const minBytes = 4 * 1024;

type Waiting = Turn & { askedAt: number; start(): void; reject(error: unknown): void };

/** `clock` is monotonic, in ms. */
export function createTurns(limits: TurnLimits, clock: () => number): Turns {
  const queue = new FairQueue<Waiting>();
  const running = new Counter();
  const waitingBytes = new Counter();

  const mayRun = (projectId: number) => running.of(projectId) < limits.maxProjectRunning;

  function startNext(): void {
    while (running.total < limits.maxRunning) {
      const next = queue.dequeue(mayRun);
      if (next === undefined) return;
      waitingBytes.add(next.projectId, -next.bytes);
      if (next.signal.aborted) next.reject(tooManyCalls());
      else if (clock() - next.askedAt > limits.maxWaitMs) next.reject(tooManyCalls());
      else {
        running.add(next.projectId, 1);
        next.start();
      }
    }
  }

  function wait(turn: Turn): Promise<void> {
    const { projectId, bytes } = turn;
    const isFull =
      waitingBytes.total + bytes > limits.maxWaitingBytes ||
      waitingBytes.of(projectId) + bytes > limits.maxProjectWaitingBytes;
    if (isFull) return Promise.reject(tooManyCalls());
    waitingBytes.add(projectId, bytes);
    return new Promise((start, reject) => {
      queue.push(projectId, { ...turn, askedAt: clock(), start, reject });
      startNext();
    });
  }

  return {
    async run(turn, call) {
      await wait({ ...turn, bytes: Math.max(turn.bytes, minBytes) });
      try {
        return await call();
      } finally {
        running.add(turn.projectId, -1);
        startNext();
      }
    },
  };
}

/** A total, and the share of each project in it. */
class Counter {
  total = 0;
  readonly #shares = new Map<number, number>();

  of(projectId: number): number {
    return this.#shares.get(projectId) ?? 0;
  }

  add(projectId: number, amount: number): void {
    this.total += amount;
    const share = this.of(projectId) + amount;
    if (share === 0) this.#shares.delete(projectId);
    else this.#shares.set(projectId, share);
  }
}

function tooManyCalls(): ServiceError {
  const message = 'too many MCP calls are waiting; try again shortly';
  return new ServiceError('unavailable', message, { retryAfterSeconds: 1 });
}
