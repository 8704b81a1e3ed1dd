/** Decides whether to restart a thread that ended. */
export type Restarts = {
  /** Records an unexpected end. False if there were too many of them. */
  admit(reason: string): boolean;
  /** The thread was told to end. If it does not end in time, the process gives up. */
  expect(reason: string): void;
  /** From now on, ends are expected. */
  stop(): void;
};

/** More unexpected ends per minute mean a permanent fault. */
const maxPerMinute = 5;
/** A disk may take this long to respond and block the thread for as long. */
const maxSilenceMs = 30_000;

export function createRestarts(giveUp: (reason: string) => void): Restarts {
  let endedAt: number[] = [];
  let isStopped = false;
  let deadline: ReturnType<typeof setTimeout> | undefined;
  return {
    admit(reason) {
      clearTimeout(deadline);
      const now = performance.now();
      endedAt = [...endedAt.filter((at) => at > now - 60_000), now];
      if (isStopped) return false;
      if (endedAt.length > maxPerMinute) giveUp(`${reason}, again and again`);
      return endedAt.length <= maxPerMinute;
    },
    expect(reason) {
      clearTimeout(deadline);
      deadline = setTimeout(() => {
        if (!isStopped) giveUp(reason);
      }, maxSilenceMs);
      deadline.unref();
    },
    stop() {
      isStopped = true;
      clearTimeout(deadline);
    },
  };
}
