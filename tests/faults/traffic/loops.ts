/** Starts clients. Each repeats its step, one request after the other, until all are stopped. */
export function startLoops(steps: (() => Promise<unknown>)[]) {
  let stopping = false;
  const running = steps.map(async (step) => {
    while (!stopping) await step();
  });
  // Prevents unhandled rejections. If a restart fails, `stop` may never be called.
  for (const one of running) one.catch(() => {});
  return {
    async stop(): Promise<void> {
      stopping = true;
      await Promise.all(running);
    },
  };
}
