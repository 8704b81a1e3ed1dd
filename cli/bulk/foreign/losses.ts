export type Losses = ReturnType<typeof createLosses>;

/** Counts the parts of an export that cannot be imported. */
export function createLosses() {
  const counts = new Map<string, number>();
  return {
    add(what: string, count = 1): void {
      if (count > 0) counts.set(what, (counts.get(what) ?? 0) + count);
    },
    /** Returns, for example, `hash: 2, relations: 1`; empty if nothing was lost. */
    toString: () => [...counts].map(([what, count]) => `${what}: ${count}`).join(', '),
  };
}
