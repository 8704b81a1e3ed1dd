/**
 * Runs `work` on items as they come, at most `concurrency` at a time. Items that share a key run
 * one after the other, in their order. The first error ends the reading; what runs may finish.
 */
export async function inParallel<Item>(
  items: AsyncIterable<Item>,
  concurrency: number,
  keysOf: (item: Item) => Set<string>,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const running = new Map<Promise<void>, Set<string>>();
  let failure: { error: unknown } | undefined;
  const start = (item: Item, keys: Set<string>) => {
    const done = work(item)
      .catch((error) => {
        failure ??= { error };
      })
      .finally(() => running.delete(done));
    running.set(done, keys);
  };
  const mustWait = (keys: Set<string>) =>
    running.size >= concurrency ||
    [...running.values()].some((others) => !others.isDisjointFrom(keys));
  try {
    for await (const item of items) {
      const keys = keysOf(item);
      while (failure === undefined && mustWait(keys)) await Promise.race(running.keys());
      if (failure !== undefined) break;
      start(item, keys);
    }
  } finally {
    await Promise.all(running.keys());
  }
  if (failure !== undefined) throw failure.error;
}
