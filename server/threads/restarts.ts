export type Restarts = {
  /** Records an exit. Returns whether to restart. Calls `giveUp` after too many exits. */
  admit(reason: string): boolean;
  /** Calls `giveUp` if a terminated thread does not exit in time. */
  expect(reason: string): void;
  /** Treats every later exit as expected. */
  stop(): void;
};

/** More unexpected exits per minute than this indicate a permanent fault. */
const maxPerMinute = 5;
/** A slow disk can block the thread in a system call for this long. */
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
      if (endedAt.length > maxPerMinute) giveUp(`${reason}; too many restarts`);
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
