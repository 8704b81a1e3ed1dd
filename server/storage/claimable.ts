/**
 * Selects which of the due tasks to claim. A task that has been attempted before is claimed alone,
 * because it may crash the process.
 */
export function claimable<Due extends { attempts: number }>(due: Due[]): Due[] {
  const attempted = due.findIndex(({ attempts }) => attempts > 0);
  return attempted < 0 ? due : due.slice(0, Math.max(1, attempted));
}
