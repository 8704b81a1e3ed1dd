import { ServiceError } from '../errors.ts';

/**
 * Limits the memory used for large request bodies. A body is read to its end only once there is
 * enough memory for it. Requests are admitted in order within a project, and projects take turns.
 */
export type BodyQueue = {
  /** Resolves once the body fits. The function that it resolves to frees the body's bytes. */
  admit(projectId: number, bytes: number): Promise<() => void>;
};

export type BodyQueueLimits = {
  /**
   * Limits for all bodies in memory and for one project's bodies. A body that is larger than a
   * limit is admitted once no other body counts toward that limit.
   */
  totalBytes: number;
  projectBytes: number;
  /**
   * Limits for waiting requests. Bun may already have buffered about 1 MiB of each request's body.
   */
  maxWaiting: number;
  maxProjectWaiting: number;
  maxWaitMs: number;
};

type Waiter = { bytes: number; start(): void };

export function createBodyQueue(limits: BodyQueueLimits): BodyQueue {
  const { totalBytes, projectBytes, maxWaiting, maxProjectWaiting, maxWaitMs } = limits;
  let used = 0;
  const usedBy = new Map<number, number>();
  /** The waiting requests of each project. Projects are served in the map's iteration order. */
  const queues = new Map<number, Waiter[]>();

  const fits = (bytes: number) => used === 0 || used + bytes <= totalBytes;
  function fitsShare(projectId: number, bytes: number): boolean {
    const own = usedBy.get(projectId) ?? 0;
    return own === 0 || own + bytes <= projectBytes;
  }

  function reserve(projectId: number, bytes: number): void {
    used += bytes;
    const own = (usedBy.get(projectId) ?? 0) + bytes;
    if (own === 0) usedBy.delete(projectId);
    else usedBy.set(projectId, own);
  }

  function wait(projectId: number, bytes: number): Promise<void> {
    const queue = queues.get(projectId) ?? [];
    const waiting = [...queues.values()].reduce((sum, { length }) => sum + length, 0);
    if (queue.length >= maxProjectWaiting || waiting >= maxWaiting) throw tooManyBodies();
    queues.set(projectId, queue);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(giveUp, maxWaitMs);
      const waiter: Waiter = { bytes, start };
      queue.push(waiter);
      function start(): void {
        clearTimeout(timer);
        resolve();
      }
      function giveUp(): void {
        queue.splice(queue.indexOf(waiter), 1);
        if (queue.length === 0) queues.delete(projectId);
        reject(tooManyBodies());
        startWaiting();
      }
    });
  }

  /**
   * Starts the first request that fits, in the iteration order of `queues`. If a request fits its
   * project's share but not the total, no later request starts, so that small bodies cannot starve
   * a large one.
   */
  function startNext(): boolean {
    for (const [projectId, queue] of queues) {
      const [first] = queue;
      if (first === undefined || !fitsShare(projectId, first.bytes)) continue;
      if (!fits(first.bytes)) return false;
      queue.shift();
      queues.delete(projectId);
      if (queue.length > 0) queues.set(projectId, queue);
      reserve(projectId, first.bytes);
      first.start();
      return true;
    }
    return false;
  }

  function startWaiting(): void {
    while (startNext());
  }

  return {
    async admit(projectId, bytes) {
      const turn = wait(projectId, bytes);
      startWaiting();
      await turn;
      return () => {
        reserve(projectId, -bytes);
        startWaiting();
      };
    },
  };
}

function tooManyBodies(): ServiceError {
  return new ServiceError(
    'unavailable',
    'too many large requests are being processed; try again shortly',
    {
      retryAfterSeconds: 1,
    },
  );
}
