const waiting: (() => void)[] = [];

/**
 * Resolves in a later turn of the event loop. Each turn resumes only one caller, so that the steps
 * of many requests do not add up to one long pause.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(resumeOne);
  });
}

function resumeOne(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(resumeOne);
}

/** How long a loop may run before it yields. */
const sliceMs = 2;

/** Like `map`, but yields to the event loop between items once `sliceMs` have passed. */
export async function mapYielding<From, To>(
  items: readonly From[],
  step: (item: From, index: number) => To,
): Promise<To[]> {
  const results: To[] = [];
  let since = performance.now();
  for (const item of items) {
    results.push(step(item, results.length));
    if (performance.now() - since < sliceMs) continue;
    await yieldToEventLoop();
    since = performance.now();
  }
  return results;
}
