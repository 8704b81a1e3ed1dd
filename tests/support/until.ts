/** Polls until the result is not null, undefined or false. Throws after `timeoutMs`. */
export async function until<T>(
  ask: () => T | Promise<T>,
  { timeoutMs = 60_000, what = 'the condition' } = {},
): Promise<NonNullable<T>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== null && answer !== undefined && answer !== false) return answer;
    if (performance.now() > deadline)
      throw new Error(`timed out after ${timeoutMs} ms waiting for ${what}`);
    await Bun.sleep(5);
  }
}
