type Measurements = Partial<Record<string, () => Promise<unknown>>>;
type Measured<M> = {
  [Name in keyof M]: M[Name] extends (() => Promise<infer T>) | undefined ? T[] : never;
};

/**
 * Measures several subjects alternately, for example A B A B. Discards the first `warmUps`
 * rounds and returns the measurements of the remaining rounds in order, per subject.
 */
export async function inTurn<M extends Measurements>(
  rounds: number,
  measurements: M,
  warmUps = 1,
): Promise<Measured<M>> {
  const measured = Object.entries(measurements).map(([name, measure]) => {
    return { name, measure, values: [] as unknown[] };
  });
  for (let round = -warmUps; round < rounds; round += 1) {
    for (const { measure, values } of measured) {
      const value = await measure?.();
      if (round >= 0) values.push(value);
    }
  }
  return Object.fromEntries(measured.map(({ name, values }) => [name, values])) as Measured<M>;
}

/** Makes a measurement for each subject. */
export function measureEach<Subjects extends object, T>(
  subjects: Subjects,
  measurementOf: (
    subject: NonNullable<Subjects[keyof Subjects]>,
    name: keyof Subjects,
  ) => () => Promise<T>,
): { [Name in keyof Subjects]: () => Promise<T> } {
  const made = Object.entries(subjects).map(([name, subject]) => {
    return [name, measurementOf(subject, name as keyof Subjects)];
  });
  return Object.fromEntries(made);
}

/** Measures the duration of `run`, in ms. */
export async function timed(run: () => unknown): Promise<number> {
  const begun = performance.now();
  await run();
  return performance.now() - begun;
}
