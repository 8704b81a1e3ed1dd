import { FairQueue } from '../../../fair-queue.ts';

/** `user` is the only user whose row the write locks, or null if there may be several users. */
type Write = { projectId: number; user: string | null; since: number };

/** How long a write waits for a lock on a user's row. */
const waitsMs = 5_000;

/**
 * The writes that need a user's row that another transaction has locked, and all later writes for
 * that user. They are retried one at a time, because each attempt occupies a connection until its
 * lock timeout.
 */
export class LockedWrites<Waiting extends Write> {
  readonly #waiting = new FairQueue<Waiting>();
  #lockedUsers = new Set<string>();
  #retried: Waiting | undefined;

  /** Whether the row of the write's user is known to be locked. */
  includes({ user }: Waiting): boolean {
    return user !== null && this.#lockedUsers.has(user);
  }

  push(write: Waiting): void {
    this.#waiting.push(write.projectId, write);
  }

  /** Returns the next write to retry, unless one is being retried. */
  take(admits: (projectId: number, write: Waiting) => boolean): Waiting | undefined {
    if (this.#retried !== undefined) return undefined;
    this.#retried = this.#waiting.take(admits);
    return this.#retried;
  }

  /** Adds a write that timed out waiting for a lock. Returns the writes that waited too long. */
  addLocked(write: Waiting): Waiting[] {
    const isLate = ({ since }: Waiting) => performance.now() - since > waitsMs;
    const all = [...this.#waiting.clear(), write];
    const kept = all.filter((one) => !isLate(one));
    for (const one of kept) this.push(one);
    if (write.user !== null) this.#lockedUsers.add(write.user);
    // Forget the users for whom no write is waiting.
    const users = new Set(kept.map(({ user }) => user));
    this.#lockedUsers = new Set([...this.#lockedUsers].filter((user) => users.has(user)));
    return all.filter(isLate);
  }

  noteStored({ user }: Waiting): void {
    if (user !== null) this.#lockedUsers.delete(user);
  }

  noteEnded(write: Waiting): void {
    if (this.#retried === write) this.#retried = undefined;
  }
}
