/** An interruptible sleep. If nothing is waiting, a notification ends the next wait immediately. */
export function createNotifier() {
  let isNotified = false;
  let wakeUp: (() => void) | null = null;
  return {
    notify(): void {
      isNotified = true;
      wakeUp?.();
    },
    /** Resolves after `ms`, or at the next notification. */
    async wait(ms: number): Promise<void> {
      if (!isNotified) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          wakeUp = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      wakeUp = null;
      isNotified = false;
    },
  };
}
