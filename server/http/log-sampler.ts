/** Lines that may be written at once, and then each second. */
const burst = 20;
const perSecond = 2;

/**
 * Which lines of one kind are written. Takes one and returns how many were suppressed since the
 * last that was written, or null where this one is to be suppressed as well.
 */
export type Sampler = (kind: number) => number | null;

/** `clock` is in ms and never goes back. */
export function createSampler(clock: () => number): Sampler {
  const kinds = new Map<number, { tokens: number; at: number; suppressed: number }>();
  return (kind) => {
    const at = clock();
    const state = kinds.get(kind) ?? { tokens: burst, at, suppressed: 0 };
    kinds.set(kind, state);
    state.tokens = Math.min(burst, state.tokens + ((at - state.at) / 1_000) * perSecond);
    state.at = at;
    if (state.tokens < 1) {
      state.suppressed += 1;
      return null;
    }
    const { suppressed } = state;
    state.tokens -= 1;
    state.suppressed = 0;
    return suppressed;
  };
}
