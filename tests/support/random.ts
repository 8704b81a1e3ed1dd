/** A seeded random number generator, so that failed runs are reproducible. */
export type Random = {
  /** A number in [0, 1). */
  next(): number;
  /** An integer from `from` up to, but not including, `to`. */
  between(from: number, to: number): number;
  pick<T>(items: readonly T[]): T;
  chance(share: number): boolean;
  /** Returns a generator that depends only on the seed and the name, not on earlier numbers. */
  fork(name: string | number): Random;
};

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  const between = (from: number, to: number) => from + Math.floor(next() * (to - from));
  return {
    next,
    between,
    pick: <T>(items: readonly T[]) => items[between(0, items.length)] as T,
    chance: (share) => next() < share,
    fork: (name) => createRandom(Number(Bun.hash(`${seed}/${name}`) & 0xffffffffn)),
  };
}
