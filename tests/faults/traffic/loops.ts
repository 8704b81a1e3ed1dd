/** Clients that send one request after the other. */
export type Loops = { stop(): Promise<void> };

/** Starts the clients. Each repeats its step until all are stopped. */
export function startLoops(steps: (() => Promise<unknown>)[]): Loops {
  let stopping = false;
  const running = steps.map(async (step) => {
    while (!stopping) await step();
  });
  // Prevents unhandled rejections. If a restart fails, `stop` may never be called.
  for (const one of running) one.catch(() => {});
  return {
    async stop() {
      stopping = true;
      await Promise.all(running);
    },
  };
}
