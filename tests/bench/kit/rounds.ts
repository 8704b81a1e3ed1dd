/**
 * Runs all of them in turn, round after round: A B A B. The first `warmUps` rounds are thrown away;
 * each gets back what it measured in the others, in their order.
 */
export async function inTurn<Name extends string, T>(
  rounds: number,
  turns: Record<Name, () => Promise<T>>,
  warmUps = 1,
): Promise<Record<Name, T[]>> {
  const names = Object.keys(turns) as Name[];
  const measured = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<
    Name,
    T[]
  >;
  for (let round = -warmUps; round < rounds; round += 1) {
    for (const name of names) {
      const turn = await turns[name]();
      if (round >= 0) measured[name].push(turn);
    }
  }
  return measured;
}

/** How long it took, in ms. */
export async function timed(run: () => unknown): Promise<number> {
  const begun = performance.now();
  await run();
  return performance.now() - begun;
}
