/**
 * Measures several subjects alternately, for example A B A B. Discards the first `warmUps`
 * rounds and returns the measurements of the remaining rounds in order, per subject.
 */
export async function inTurn<Name extends string, T>(
  rounds: number,
  measurements: Record<Name, () => Promise<T>>,
  warmUps = 1,
): Promise<Record<Name, T[]>> {
  const names = Object.keys(measurements) as Name[];
  const measured = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<
    Name,
    T[]
  >;
  for (let round = -warmUps; round < rounds; round += 1) {
    for (const name of names) {
      const value = await measurements[name]();
      if (round >= 0) measured[name].push(value);
    }
  }
  return measured;
}

/** Measures the duration of `run`, in ms. */
export async function timed(run: () => unknown): Promise<number> {
  const begun = performance.now();
  await run();
  return performance.now() - begun;
}
