import { FairQueue } from '../threads/fair-queue.ts';

/**
 * Runs up to `maxRunning` calls at the same time. Projects with waiting calls take turns, so that
 * one project's calls hardly delay those of another.
 */
export type Turns = {
  /** Rejects if the call, including its wait, takes longer than `withinMs`. */
  run<T>(turn: { projectId: number; withinMs: number }, call: () => Promise<T>): Promise<T>;
};

export function createTurns(maxRunning: number): Turns {
  const queue = new FairQueue<() => Promise<void>>();
  let running = 0;

  function startNext(): void {
    while (running < maxRunning) {
      const start = queue.dequeue();
      if (start === undefined) return;
      running += 1;
      start().finally(() => {
        running -= 1;
        startNext();
      });
    }
  }

  return {
    run({ projectId, withinMs }, call) {
      const deadline = performance.now() + withinMs;
      return new Promise((resolve, reject) => {
        queue.push(projectId, async () => {
          try {
            resolve(await before(deadline, call));
          } catch (error) {
            reject(error);
          }
        });
        startNext();
      });
    },
  };
}

async function before<T>(deadline: number, call: () => Promise<T>): Promise<T> {
  const leftMs = deadline - performance.now();
  if (leftMs <= 0) throw new Error('too many other calls were waiting');
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error('no answer in time')), leftMs);
  try {
    return await Promise.race([call(), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
