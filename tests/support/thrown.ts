/** Returns the error that the function throws. Throws if the function throws no error. */
export function thrownBy(act: () => unknown): Error {
  let result: unknown;
  try {
    result = act();
  } catch (error) {
    if (error instanceof Error) return error;
    throw new Error(`the function threw a value that is not an Error: ${String(error)}`);
  }
  throw new Error(`the function threw no error and returned ${Bun.inspect(result)}`);
}

/**
 * Returns the error with which the promise rejects. Throws if the promise resolves. Use this for
 * replies from other threads: `expect(…).rejects` runs its own event loop without `setImmediate`.
 */
export async function rejectionOf(promise: Promise<unknown>): Promise<Error> {
  const outcome = await promise.then(
    (result) => ({ result }),
    (error: unknown) => ({ error }),
  );
  if ('result' in outcome)
    throw new Error(`the promise resolved with ${Bun.inspect(outcome.result)}`);
  if (outcome.error instanceof Error) return outcome.error;
  throw new Error(
    `the promise rejected with a value that is not an Error: ${String(outcome.error)}`,
  );
}
