const ends = ['error', 'close', 'exit', 'messageerror'];
/**
 * The callbacks of intervals up to this length do not run. A watchdog that detects a hung thread
 * within two seconds needs such an interval.
 */
const heartbeatMs = 2_000;

/**
 * Hides thread failures from the main thread. The main thread receives no event when a thread ends,
 * and runs no interval that could detect a hung thread.
 */
export function ignoreThreads(): void {
  if (!Bun.isMainThread) return;
  const { addEventListener } = Worker.prototype;
  Worker.prototype.addEventListener = function (this: Worker, type: string, ...rest: never[]) {
    if (!ends.includes(type)) addEventListener.call(this, type, ...(rest as unknown as [never]));
  } as typeof addEventListener;
  for (const name of ['onerror', 'onclose', 'onmessageerror']) {
    Object.defineProperty(Worker.prototype, name, { set() {}, get: () => null });
  }
  const every = globalThis.setInterval;
  globalThis.setInterval = ((act: () => void, ms: number, ...rest: never[]) =>
    every(ms <= heartbeatMs ? () => {} : act, ms, ...rest)) as typeof every;
}
