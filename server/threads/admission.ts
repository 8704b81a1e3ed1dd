import { ServiceError } from '../errors.ts';
import { FairQueue } from './fair-queue.ts';

export type Admission = ReturnType<typeof createAdmission>;

/** The sizes count toward the limits. `signal` rejects work that is still waiting. */
type Work = { projectId: number; size: number; waitingSize: number; signal?: AbortSignal };

export type AdmissionLimits = { running: Limit; waiting: Limit; maxWaitMs: number };

/** Work that is larger than a limit is admitted once no other work counts toward that limit. */
type Limit = { total: number; project: number };

type Waiter = { size: number; isOver: boolean; begin(): void };

/**
 * Limits the work in progress and the work that waits, in total and for each project. Projects with
 * waiting work take turns. `refusal` is the message of the error for work that is not admitted.
 *
 *   waiting -> admitted -> ended
 *        \-> rejected: too much waits, it has waited too long, or its client has gone
 */
export function createAdmission(limits: AdmissionLimits, refusal: string) {
  const running = new Usage(limits.running);
  const waiting = new Usage(limits.waiting);
  const queue = new FairQueue<Waiter>();
  /**
   * The work whose turn it is. No other work begins until there is room for it, so that small work
   * cannot starve large work.
   */
  let next: Waiter | undefined;

  function beginNext(): void {
    for (;;) {
      next ??= queue.dequeue((id, { isOver, size }) => isOver || running.fitsShare(id, size));
      if (next === undefined) return;
      if (!next.isOver) {
        if (!running.fitsTotal(next.size)) return;
        next.begin();
      }
      next = undefined;
    }
  }

  function enqueue(work: Work, resolve: (end: () => void) => void, reject: (e: Error) => void) {
    const { projectId, size, waitingSize, signal } = work;
    const waiter: Waiter = { size, isOver: false, begin };
    const timer = setTimeout(giveUp, limits.maxWaitMs);
    signal?.addEventListener('abort', giveUp);
    function leave(): void {
      waiter.isOver = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', giveUp);
      waiting.add(projectId, -waitingSize);
    }
    function begin(): void {
      leave();
      running.add(projectId, size);
      resolve(() => {
        running.add(projectId, -size);
        beginNext();
      });
    }
    function giveUp(): void {
      leave();
      reject(refused(refusal));
      beginNext();
    }
    waiting.add(projectId, waitingSize);
    queue.push(projectId, waiter, size);
    beginNext();
  }

  return {
    /**
     * Resolves when the work may begin, with a function that must be called when the work has
     * ended. Throws `unavailable`.
     */
    admit(work: Work): Promise<() => void> {
      const { projectId, size, waitingSize, signal } = work;
      // No later subtraction would undo NaN or Infinity.
      if (!Number.isFinite(size + waitingSize)) {
        return Promise.reject(new Error('the size of work must be finite'));
      }
      const fits = waiting.fitsTotal(waitingSize) && waiting.fitsShare(projectId, waitingSize);
      if (!fits || signal?.aborted) return Promise.reject(refused(refusal));
      return new Promise((resolve, reject) => enqueue(work, resolve, reject));
    },
  };
}

/** What counts toward a limit. */
class Usage {
  readonly #limit: Limit;
  readonly #shares = new Map<number, number>();
  #total = 0;

  constructor(limit: Limit) {
    this.#limit = limit;
  }

  fitsTotal(size: number): boolean {
    return this.#total === 0 || this.#total + size <= this.#limit.total;
  }

  fitsShare(projectId: number, size: number): boolean {
    const share = this.#shares.get(projectId) ?? 0;
    return share === 0 || share + size <= this.#limit.project;
  }

  add(projectId: number, size: number): void {
    this.#total += size;
    const share = (this.#shares.get(projectId) ?? 0) + size;
    if (share === 0) this.#shares.delete(projectId);
    else this.#shares.set(projectId, share);
  }
}

function refused(message: string): ServiceError {
  return new ServiceError('unavailable', message, { retryAfterSeconds: 1 });
}
