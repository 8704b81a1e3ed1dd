/** About a gigabit per second. */
const maxUnitsPerMs = 128_000;
/** A read that would cause a shorter pause is not counted, because timers cannot be shorter. */
const minPauseMs = 1;

/**
 * Limits how fast a project reads text while other projects are active. Sending the text takes time
 * on the HTTP thread, which serves all projects. A project that exceeds the limit is paused until
 * its rate is below the limit. `onResume` is called after the pause has ended.
 */
export function createReadPace(onResume: () => void) {
  /** For each project, the time by which all of its text can be sent at the maximum rate. */
  const sentAt = new Map<number, number>();
  const paused = new Set<number>();

  function pause(projectId: number): void {
    const pauseMs = (sentAt.get(projectId) ?? 0) - performance.now();
    // mutate-ignore constant: a timer cannot be shorter
    if (pauseMs > 0) {
      paused.add(projectId);
      setTimeout(pause, Math.ceil(pauseMs), projectId).unref();
    } else if (paused.delete(projectId)) onResume();
  }

  return {
    isPaused: (projectId: number) => paused.has(projectId),
    /** Counts the text of a read in UTF-16 units. `begunAt` is when the read began. */
    add(projectId: number, units: number, begunAt: number): void {
      const pauseMs = units / maxUnitsPerMs;
      if (pauseMs < minPauseMs) return;
      sentAt.set(projectId, Math.max(sentAt.get(projectId) ?? begunAt, begunAt) + pauseMs);
      if (!paused.has(projectId)) pause(projectId);
    },
  };
}
