/** How often the event loop came around, and let others in, until the work was done. */
export async function countTurns<T>(
  work: () => Promise<T>,
): Promise<{ value: Awaited<T>; turns: number }> {
  let turns = 0;
  let done = false;
  function count(): void {
    turns += 1;
    if (!done) setImmediate(count);
  }
  setImmediate(count);
  try {
    return { value: await work(), turns };
  } finally {
    done = true;
  }
}
