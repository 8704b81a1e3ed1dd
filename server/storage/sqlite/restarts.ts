/** Whether a thread that ended is worth another start. */
export type Restarts = {
  /** Takes note of an end that was not asked for. False where it is one too many. */
  admit(reason: string): boolean;
  /** It was told to end; where it does not, the process cannot go on. */
  expect(reason: string): void;
  /** From here on ends are asked for. */
  stop(): void;
};

/** More of them in a minute are not bad luck. */
const maxPerMinute = 5;
/** A disk may take this long to answer, and with it the thread that waits for it. */
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
