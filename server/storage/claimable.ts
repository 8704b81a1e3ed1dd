/**
 * Selects the tasks to claim: a task that has been attempted before may crash the process, so it is
 * claimed alone.
 */
export function claimable<Due extends { attempts: number }>(due: Due[]): Due[] {
  const attempted = due.findIndex(({ attempts }) => attempts > 0);
  return attempted < 0 ? due : due.slice(0, Math.max(1, attempted));
}
