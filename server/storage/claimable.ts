/**
 * The tasks of one claim, of those that are due in this order. A task that was attempted before is
 * claimed alone, in case it ends the process; otherwise all new tasks up to the first such one.
 */
export function claimable<Due extends { attempts: number }>(due: Due[]): Due[] {
  const attempted = due.findIndex(({ attempts }) => attempts > 0);
  return attempted < 0 ? due : due.slice(0, Math.max(1, attempted));
}
