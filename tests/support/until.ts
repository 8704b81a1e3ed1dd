type Options<T> = { timeoutMs?: number; what?: string; fits?: (answer: NonNullable<T>) => boolean };

const isSet = <T>(answer: T): answer is NonNullable<T> =>
  answer !== null && answer !== undefined && answer !== false;

/**
 * Polls until the result fits: by default, until it is not null, undefined or false. Throws after
 * `timeoutMs`. The pauses grow, so that a long wait takes little CPU time from what it waits for.
 */
export async function until<T>(
  ask: () => T | Promise<T>,
  { timeoutMs = 60_000, what = 'the condition', fits = () => true }: Options<T> = {},
): Promise<NonNullable<T>> {
  const deadline = performance.now() + timeoutMs;
  for (let pauseMs = 2; ; pauseMs = Math.min(1.5 * pauseMs, 25)) {
    const answer = await ask();
    if (isSet(answer) && fits(answer)) return answer;
    if (performance.now() > deadline)
      throw new Error(`timed out after ${timeoutMs} ms waiting for ${what}`);
    await Bun.sleep(pauseMs);
  }
}
