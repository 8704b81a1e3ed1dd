/** Names the idempotency key and the users of a write; see write-queue.ts. */
type Named = { key: string | null; users: readonly string[] | null };

/**
 * The users and keys of the writes that run, and the writes that wait for one of them. A write
 * would otherwise occupy a connection while it waits in the database.
 */
export class Reservations<Write extends Named> {
  /** The names of running writes. Only writes of one group, which end together, share a name. */
  readonly #names = new Set<string>();
  readonly #parked = new Map<string, Write[]>();

  /** Returns whether the write must wait, and in this case keeps it until it can run. */
  park(write: Write): boolean {
    const name = namesOf(write).find((one) => this.#names.has(one));
    if (name === undefined) return false;
    const others = this.#parked.get(name) ?? [];
    this.#parked.set(name, [...others, write]);
    return true;
  }

  addKey({ key }: Write): void {
    if (key !== null) this.#names.add(key);
  }

  addUsers({ users }: Write): void {
    for (const user of users ?? []) this.#names.add(user);
  }

  /** Removes the names of a write that has ended. Returns the writes that have waited for them. */
  release(write: Write): Write[] {
    return namesOf(write).flatMap((name) => {
      this.#names.delete(name);
      const parked = this.#parked.get(name) ?? [];
      this.#parked.delete(name);
      return parked;
    });
  }
}

function namesOf({ key, users }: Named): string[] {
  return [...(key === null ? [] : [key]), ...(users ?? [])];
}
