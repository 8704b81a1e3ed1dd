/** An interruptible sleep. If nothing is waiting, a notification ends the next wait immediately. */
type Notifier = {
  notify(): void;
  /** Resolves after `ms`, or at the next notification. */
  wait(ms: number): Promise<void>;
};

export function createNotifier(): Notifier {
  let isNotified = false;
  let wakeUp: (() => void) | null = null;
  return {
    notify() {
      isNotified = true;
      wakeUp?.();
    },
    async wait(ms) {
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
