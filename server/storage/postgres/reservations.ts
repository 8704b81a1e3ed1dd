/** Names the idempotency key and the users of a write; see write-queue.ts. */
type Named = { key: string | null; users: readonly string[] | null };

/**
 * The users and keys of the writes that run, and the writes that wait for one of them. A write
 * would otherwise occupy a connection while it waits in the database.
 */
export class Reservations<Write extends Named> {
  /** The number of running writes with the name. */
  readonly #counts = new Map<string, number>();
  readonly #parked = new Map<string, Write[]>();

  /** Returns whether the write must wait, and in this case keeps it until it can run. */
  park(write: Write): boolean {
    const name = namesOf(write).find((one) => this.#counts.has(one));
    if (name === undefined) return false;
    const others = this.#parked.get(name) ?? [];
    this.#parked.set(name, [...others, write]);
    return true;
  }

  addKey({ key }: Write): void {
    if (key !== null) this.#add(key);
  }

  addUsers({ users }: Write): void {
    for (const user of new Set(users)) this.#add(user);
  }

  /** Removes the names of a write that has ended. Returns the writes that have waited for them. */
  release(write: Write): Write[] {
    return namesOf(write).flatMap((name) => {
      const left = (this.#counts.get(name) ?? 1) - 1;
      if (left > 0) {
        this.#counts.set(name, left);
        return [];
      }
      this.#counts.delete(name);
      const parked = this.#parked.get(name) ?? [];
      this.#parked.delete(name);
      return parked;
    });
  }

  #add(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }
}

function namesOf({ key, users }: Named): string[] {
  return [...(key === null ? [] : [key]), ...new Set(users)];
}
