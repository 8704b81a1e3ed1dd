/** How long one piece of work may keep everybody else waiting. */
const longestMs = 1;

/** Resolves at once, or after the event loop has been around: others had their turn. */
export type Turn = () => Promise<void> | undefined;

/** Made where a long piece of work begins; the work awaits a turn after each of its steps. */
export function createTurns(): Turn {
  let since = performance.now();
  return () => {
    if (performance.now() - since < longestMs) return;
    return new Promise((resolve) => {
      setImmediate(() => {
        since = performance.now();
        resolve();
      });
    });
  };
}

/** Runs a work that is parted into steps by its `yield`s, with a turn after each of them. */
export async function inTurns<T>(work: Generator<undefined, T>, turn: Turn): Promise<T> {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
    const others = turn();
    if (others !== undefined) await others;
  }
}

/** Like `map`, with a turn after each step. */
export async function mapInTurns<From, To>(
  items: readonly From[],
  step: (item: From, index: number) => To,
  turn: Turn = createTurns(),
): Promise<To[]> {
  const results: To[] = [];
  for (const item of items) {
    results.push(step(item, results.length));
    const others = turn();
    if (others !== undefined) await others;
  }
  return results;
}
