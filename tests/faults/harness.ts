/**
 * A harness puts one promise of the service to the test. `run` must find nothing on the service as
 * it is, and must find something on its control, a variant with the protection removed: a harness
 * that cannot fail proves nothing.
 */
export type Harness = {
  /** As in the table of promises: P1, P2, … */
  id: string;
  promise: string;
  proof: string;
  /** Null where the protection cannot be taken away from outside. */
  control: Control | null;
  run(options: RunOptions): Promise<Finding>;
};

export type Control = {
  /** The protection that is removed, in words. */
  without: string;
  /** Names from the table in variants/table.ts. */
  variants: string[];
};

export type RunOptions = {
  seed: number;
  /** `quick` is for every test run, `full` for a release. */
  tier: 'quick' | 'full';
  /** What to break on purpose; empty for the service as it is. */
  variants: string[];
};

export type Finding = {
  figures: Record<string, number | string>;
  /** Each is a broken promise, in words. Empty where the promise held. */
  violations: string[];
  /** Why it could not run here; then nothing was proved. */
  skipped?: string;
  /** An exception ended it, and is its one violation. */
  fellOver?: boolean;
};

/** Collects violations; the first few are kept in words, all are counted. */
export function createViolations() {
  const kept: string[] = [];
  let total = 0;
  return {
    add(text: string): void {
      total += 1;
      if (kept.length < 20) kept.push(text);
    },
    count: () => total,
    list: () => (total > kept.length ? [...kept, `… and ${total - kept.length} more`] : kept),
  };
}

export type Violations = ReturnType<typeof createViolations>;
