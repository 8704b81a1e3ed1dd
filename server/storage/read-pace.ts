/**
 * Limits how fast each project reads text, because sending it takes time on the HTTP thread, which
 * serves all projects. A project that has read faster is paused until its rate is below the limit.
 */
export type ReadPace = {
  isPaused(projectId: number): boolean;
  /** Counts the text of a read in UTF-16 units. `begunAt` is when the read began. */
  add(projectId: number, units: number, begunAt: number): void;
};

/** About a gigabit per second. */
const maxUnitsPerMs = 128_000;
/** Reads of less text are not counted, because a timer cannot wait for less than this. */
const minPauseMs = 1;

/** `onResume` is called after the pause of a project has ended. */
export function createReadPace(onResume: () => void): ReadPace {
  const pausedUntil = new Map<number, number>();

  function resume(projectId: number): void {
    const pauseMs = (pausedUntil.get(projectId) ?? 0) - performance.now();
    if (pauseMs > 0) {
      setTimeout(resume, Math.ceil(pauseMs), projectId).unref();
      return;
    }
    pausedUntil.delete(projectId);
    onResume();
  }

  return {
    isPaused: (projectId) => pausedUntil.has(projectId),
    add(projectId, units, begunAt) {
      const takesMs = units / maxUnitsPerMs;
      if (takesMs < minPauseMs) return;
      const until = pausedUntil.get(projectId);
      pausedUntil.set(projectId, (until ?? begunAt) + takesMs);
      if (until === undefined) resume(projectId);
    },
  };
}
