/** The error that the function throws; fails the test where it throws none. */
export function thrownBy(act: () => unknown): Error {
  let result: unknown;
  try {
    result = act();
  } catch (error) {
    if (error instanceof Error) return error;
    throw new Error(`threw what is no Error: ${String(error)}`);
  }
  throw new Error(`threw nothing, and returned ${Bun.inspect(result)}`);
}
