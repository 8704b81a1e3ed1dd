/** The capacity of the token bucket and its refill rate per second, in log lines. */
const burst = 20;
const perSecond = 2;

/**
 * `clock` is monotonic, in ms. The returned function returns the number of lines suppressed since
 * the last logged line, or null to suppress this line.
 */
export function createSampler(clock: () => number) {
  const kinds = new Map<string, { tokens: number; at: number; suppressed: number }>();
  return (kind: string): number | null => {
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
