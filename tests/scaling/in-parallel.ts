/** Runs an operation `count` times, each time by the next of the clients that is idle. */
export async function inParallel(
  count: number,
  clients: number,
  run: (index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const client = async () => {
    while (next < count) await run(next++);
  };
  await Promise.all(Array.from({ length: clients }, client));
}
