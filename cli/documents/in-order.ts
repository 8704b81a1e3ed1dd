/**
 * Runs `work` on up to `concurrency` items side by side and gives the results in the order of the
 * items. `work` must not fail: nobody listens to a later item while an earlier one runs.
 */
export async function* inOrder<Item, Result>(
  items: Iterable<Item>,
  concurrency: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const running: Promise<Result>[] = [];
  try {
    for (const item of items) {
      running.push(work(item));
      const [first] = running;
      if (running.length < concurrency || first === undefined) continue;
      yield await first;
      running.shift();
    }
    for (const one of running) yield await one;
  } finally {
    await Promise.all(running);
  }
}
