/** Reads are held back for at most this time, even if the work takes longer. */
const maxHoldMs = 100;

/**
 * Holds back new reads, so that work can run while no read has a transaction open.
 *
 *   open -> waiting for the running reads -> working -> open
 *                        \----------------------\-> open, when the time is over
 *
 * `isIdle` returns whether no read is running. `onRelease` is called when reads may start.
 */
export function createReadHold(isIdle: () => boolean, onRelease: () => void) {
  let isActive = false;
  let idle = Promise.withResolvers<boolean>();

  function release(): void {
    isActive = false;
    idle.resolve(false);
    onRelease();
  }

  return {
    isActive: () => isActive,
    /** Must be called when a read has ended. */
    readEnded(): void {
      // mutate-ignore operand: the next run replaces `idle`
      if (isActive && isIdle()) idle.resolve(true);
    },
    /** Runs `work` when no read is running; does not run it if the running reads take too long. */
    async run(work: () => Promise<unknown>): Promise<void> {
      isActive = true;
      idle = Promise.withResolvers();
      const timer = setTimeout(release, maxHoldMs);
      if (isIdle()) idle.resolve(true);
      if (await idle.promise) await work();
      clearTimeout(timer);
      release();
    },
  };
}
