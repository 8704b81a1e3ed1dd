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
