const ends = ['error', 'close', 'exit', 'messageerror'];
/** A heartbeat that is to be missed within two seconds beats more often than that. */
const heartbeatMs = 2_000;

/**
 * The main thread does not hear of a thread that ended, and runs no timer that could notice one
 * that hangs.
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
