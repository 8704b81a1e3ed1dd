export type Losses = ReturnType<typeof createLosses>;

/** Counts the fields of an export that a memory cannot hold. */
export function createLosses() {
  const counts = new Map<string, number>();
  return {
    add(what: string, count = 1): void {
      if (count > 0) counts.set(what, (counts.get(what) ?? 0) + count);
    },
    /** `hash: 2, relations: 1`; empty if nothing was lost. */
    toString: () => [...counts].map(([what, count]) => `${what}: ${count}`).join(', '),
  };
}
