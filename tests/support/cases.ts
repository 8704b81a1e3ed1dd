/** A test of packages or documents. `run` returns a summary, or throws if the test fails. */
export type Case = { name: string; run(): Promise<string> };

/** Runs the cases whose names contain one of the given texts, by default all, in turn. */
export async function runCases(cases: Case[], wanted: string[]): Promise<void> {
  const isWanted = ({ name }: Case) =>
    wanted.length === 0 || wanted.some((part) => name.includes(part));
  const chosen = cases.filter(isWanted);
  if (chosen.length === 0) process.exitCode = 1;
  for (const { name, run } of chosen) {
    const begin = performance.now();
    const [outcome, result] = await run().then(
      (text) => ['pass', text],
      (error) => ['FAIL', error instanceof Error ? error.message : String(error)],
    );
    const seconds = ((performance.now() - begin) / 1_000).toFixed(0).padStart(4);
    console.log(`${outcome} ${seconds} s  ${name.padEnd(32)} ${result}`);
    if (outcome === 'FAIL') process.exitCode = 1;
  }
}
